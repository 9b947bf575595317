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
  const holdfast::client redis{server_url(argc, argv)};
  const auto report = redis.mutex("report");
  storage disk;

  const auto slow = report.acquire();
  holdfast::inspector{redis}.break_lock("report", "its holder seems to be frozen");
  const auto fast = report.acquire();

  const bool accepted = disk.write(fast.token(), "new");
  const bool late = disk.write(slow.token(), "old");  // the frozen holder wakes up
  std::cout << "new writer " << (accepted ? "accepted" : "refused") << ", late writer "
            << (late ? "accepted" : "refused") << ", stored: " << disk.value() << '\n';
  return accepted && !late ? 0 : 1;
}
