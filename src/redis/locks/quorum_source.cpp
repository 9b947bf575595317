#include "redis/locks/quorum_source.hpp"

#include "redis/locks/quorum_bid.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {
namespace {

// The handle of a bid, which may outlive it.
class quorum_acquisition final : public acquisition {
 public:
  quorum_acquisition(std::shared_ptr<quorum_handle> handle, std::shared_ptr<const quorum_spec> spec)
      : handle_(std::move(handle)), spec_(std::move(spec)) {}

  bool begin(leasing::patience patience, std::stop_token stop, const listener& who) override {
    const auto bid = std::make_shared<quorum_bid>(handle_, spec_, patience);
    bid_ = bid;
    bid->begin(std::move(stop), who);  // a continuation may end this object before it returns
    return false;
  }
  acquired finish() override { return bid_->take(); }
  void abandon() override {
    if (bid_) bid_->abandon();
  }

 private:
  const std::shared_ptr<quorum_handle> handle_;
  const std::shared_ptr<const quorum_spec> spec_;
  std::shared_ptr<quorum_bid> bid_;
};

}  // namespace

acquired quorum_source::wait(leasing::patience patience, std::stop_token stop) {
  if (patience.waits) check_wait();
  const auto bid = std::make_shared<quorum_bid>(handle_, spec_, patience);
  net::waiter self{net::waiter::kind::caller};
  bid->begin(std::move(stop), {.sleeper = &self});
  bid->drive(self);
  auto outcome = bid->take();
  if (const auto* const got = std::get_if<grant>(&outcome)) {
    keep_or_give_back(*got, [&] { holders_.add(this_thread(), got->of); });
  }
  return outcome;
}

void quorum_source::check_wait() {
  if (spec_->group->home().callbacks().is_this_thread()) {
    throw failure{errc::would_deadlock,
                  "waiting for a lock in a callback would stop all callbacks; use async_acquire"};
  }
  if (spec_->refuses_reentry && holders_.has(this_thread())) {
    throw failure{errc::would_deadlock, "this thread has acquired this lock of the quorum itself"};
  }
}

std::unique_ptr<acquisition> quorum_source::ask() {
  return std::make_unique<quorum_acquisition>(handle_, spec_);
}

}  // namespace holdfast::redis_locks
