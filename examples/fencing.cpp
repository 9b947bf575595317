// A resource that refuses late writers: whoever was paused past the end of a lease cannot harm.
#include <chrono>
#include <iostream>
#include <string>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

namespace {

class storage {
 public:
  // Refuses a token that is smaller than one it has seen.
  bool write(holdfast::fencing_token token, std::string value) {
    if (token < newest_) return false;
    newest_ = token;
    value_ = std::move(value);
    return true;
  }
  const std::string& value() const { return value_; }

 private:
  holdfast::fencing_token newest_;
  std::string value_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto url = server_url(argc, argv);
  const holdfast::client one{url}, another{url};  // in earnest, on two machines
  storage disk;

  const auto slow = one.mutex("report").acquire();
  holdfast::inspector{another}.break_lock("report", "its holder seems to be frozen");
  const auto fast = another.mutex("report").acquire();

  const bool accepted = disk.write(fast.token(), "new");
  const bool late = disk.write(slow.token(), "old");  // the frozen holder wakes up
  std::cout << "new writer " << (accepted ? "accepted" : "refused") << ", late writer "
            << (late ? "accepted" : "refused") << ", stored: " << disk.value() << '\n';
  return accepted && !late ? 0 : 1;
}
