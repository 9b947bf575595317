// Resources that refuse late writers: a client that was paused past the end of its lease does no
// harm. One in memory behind a gate, one in Redis itself.
#include <iostream>
#include <string>
#include <utility>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

namespace {

// [snippet gate]
class storage {
 public:
  // Refuses a token that is smaller than one it has seen.
  bool write(holdfast::fencing_token token, std::string value) {
    return gate_.admit("disk", token, [&] { value_ = std::move(value); }).accepted;
  }
  const std::string& value() const { return value_; }

 private:
  holdfast::fence_gate gate_;
  std::string value_;
};
// [snippet end]

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

  // [snippet set]
  const auto written = one.fenced_set("report", "new", fast.token());
  const auto stale = one.fenced_set("report", "old", slow.token());  // false: refused
  // [snippet end]
  std::cout << "new writer " << (accepted ? "accepted" : "refused") << ", late writer "
            << (late ? "accepted" : "refused") << ", stored: " << disk.value() << '\n';
  return accepted && written && !late && !stale && stale.last == fast.token() ? 0 : 1;
}
