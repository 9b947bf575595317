#include "runtime/local_acquisition.hpp"

#include <utility>

namespace holdfast::runtime {

bool local_acquisition::begin(leasing::patience patience, std::stop_token stop,
                              const listener& who) {
  sleeper_ = who.sleeper;
  if (sleeper_ != nullptr) thread_ = this_thread();
  // enter() makes all that the attempt needs, or throws and changes nothing.
  auto entry = local_->enter(patience, thread_, stop.stop_possible());
  if (entry.got) {
    ended_ = *std::move(entry.got);
    return true;
  }
  asks_ = std::move(entry.asks);
  waits_ = std::move(entry.waits);
  // A continuation may run, and end this object, before these return.
  if (const auto asks = asks_) {
    asks->acquire(std::move(stop), who, who.drives());
  } else if (const auto waits = waits_) {
    auto here = who;
    if (sleeper_ != nullptr) here.sleeper = sleeper_ = &waits->sleeper();
    waits->begin(std::move(stop), here);
  } else {
    ended_ =
        leasing::outcome{.code = errc::busy, .detail = "this process has it, or is asking for it"};
    return true;
  }
  return false;
}

std::optional<acquired> local_acquisition::look() {
  if (ended_) return std::exchange(ended_, std::nullopt);
  if (waits_ && !asks_) {
    auto news = waits_->look();
    if (auto* const got = std::get_if<grant>(&news)) {
      got->waited = true;
      return std::move(*got);
    }
    if (auto* const over = std::get_if<leasing::outcome>(&news)) return std::move(*over);
    auto* const asks = std::get_if<std::shared_ptr<lock_driver>>(&news);
    if (asks == nullptr) return std::nullopt;
    asks_ = std::move(*asks);
  }
  // The listener may have been told something else than the answer: that it must ask the server
  // now.
  if (sleeper_ != nullptr) sleeper_->clear_done();
  if (!asks_->has_answer()) return std::nullopt;
  auto answer = asks_->take_acquired();
  const auto asked = std::exchange(asks_, nullptr);
  if (!answer.code) {
    auto got = local_->obtained(asked, thread_);
    got.waited = got.waited || waits_ != nullptr;
    return got;
  }
  local_->failed(*asked);
  return answer;
}

void local_acquisition::abandon() {
  if (ended_) {
    if (auto* const got = std::get_if<grant>(&*ended_)) got->of->give_back({});
  } else if (waits_ && !asks_) {
    waits_->abandon();
  } else if (asks_) {
    asks_->abandon();
    local_->failed(*asks_);
  }
}

}  // namespace holdfast::runtime
