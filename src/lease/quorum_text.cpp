// The steps of a quorum's machines, as text.
#include <string_view>

#include "lease/quorum_lease.hpp"
#include "lease/quorum_machine.hpp"

namespace holdfast::leasing {
namespace {

class sentence {
 public:
  void add(std::string_view part) {
    if (!text_.empty()) text_ += "; ";
    text_ += part;
  }
  void add_each(std::string_view what, const std::vector<std::size_t>& members) {
    for (const auto member : members) add(std::string(what) + " " + std::to_string(member));
  }
  void add_timer(const std::optional<monotonic_time>& at) {
    if (at) add("wake at " + std::to_string(at->time_since_epoch().count()) + " ns");
  }
  std::string text() const { return text_.empty() ? "nothing" : text_; }

 private:
  std::string text_;
};

}  // namespace

std::string to_string(const quorum_step& what) {
  sentence said;
  said.add_each("take back", what.take_back);
  said.add_each("in doubt", what.in_doubt);
  if (what.new_request) said.add("new request");
  for (const auto& [member, asks] : what.send) {
    constexpr std::string_view names[] = {"vote", "join", "enter", "stay out", "agree", "confirm"};
    said.add("ask " + std::to_string(member) + " to " +
             std::string(names[static_cast<std::size_t>(asks)]));
  }
  said.add_timer(what.wake_at);
  if (what.done) said.add(what.done->code ? "done: " + what.done->detail : std::string{"held"});
  if (what.leaves) said.add("leaves");
  return said.text();
}

std::string to_string(const quorum_lease_step& what) {
  sentence said;
  said.add_each("renew", what.renew);
  said.add_timer(what.wake_at);
  if (what.lost) said.add("lost");
  return said.text();
}

std::string to_string(const quorum_release_step& what) {
  sentence said;
  said.add_each("release", what.send);
  said.add_timer(what.wake_at);
  if (what.done) said.add(what.done->code ? "done: " + what.done->detail : std::string{"done"});
  if (what.finished) said.add("finished");
  return said.text();
}

}  // namespace holdfast::leasing
