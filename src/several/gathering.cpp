#include "several/gathering.hpp"

#include <new>
#include <optional>
#include <utility>
#include <variant>

#include "base/mutex.hpp"
#include "runtime/client_core.hpp"
#include "runtime/lock_access.hpp"

namespace holdfast::several {
namespace {

using detail::lock_access;
using runtime::grant;

// Asks for the parts one after another. To end early, it stops the part that is asked for, whose
// completion then comes on the callback thread. So the completion comes exactly once for each part.
class gathering final : public detail::completion, public std::enable_shared_from_this<gathering> {
 public:
  gathering(std::shared_ptr<const lock_list> wanted, std::string name)
      : wanted_(std::move(wanted)), name_(std::move(name)), got_(*wanted_) {}

  bool begin(leasing::patience patience, std::stop_token stop, const runtime::listener& who) {
    const scoped_mutex lock(mutex_);
    patience_ = patience;
    who_ = who;
    if (stop.stop_possible()) forward_.emplace(std::move(stop), stopper{stop_});
    return advance();
  }

  runtime::acquired finish() {
    forward_.reset();
    const scoped_mutex lock(mutex_);
    if (was_out_of_memory_) throw std::bad_alloc();
    return std::move(*ended_);
  }

  void abandon() {
    forward_.reset();
    {
      const scoped_mutex lock(mutex_);
      who_ = {};
      abandoned_ = true;
      if (ended_) return give_up();
    }
    stop_.request_stop();
  }

  void complete() noexcept override {
    const auto alive = std::exchange(self_, nullptr);
    const scoped_mutex lock(mutex_);
    settle();
    if (abandoned_) return give_up();
    // Under the mutex: a caller that abandons this then knows whether it was told, and may withdraw
    // that.
    if (advance()) who_.tell(lock_access::core(wanted_->front())->engine());
  }

 private:
  struct stopper {
    std::stop_source& to;
    void operator()() const noexcept { to.request_stop(); }
  };

  // True: it has ended. False: a part will be told, maybe before this returns.
  bool advance() noexcept HOLDFAST_REQUIRES(mutex_) {
    try {
      return ask_on();
    } catch (const std::bad_alloc&) {
      fail();
      return true;
    }
  }

  bool ask_on() HOLDFAST_REQUIRES(mutex_) {
    while (!ended_) {
      const lock* const next = got_.next();
      if (next == nullptr) {
        check_all();
        continue;
      }
      asked_ = lock_access::source(*next)->ask();
      self_ = shared_from_this();
      if (!asked_->begin(patience_, stop_.get_token(), {.completion = this})) return false;
      self_.reset();
      settle();
    }
    return true;
  }

  // Gives back the parts that were granted; the caller gets std::bad_alloc.
  void fail() noexcept HOLDFAST_REQUIRES(mutex_) {
    self_.reset();
    was_out_of_memory_ = true;
    ended_ = leasing::outcome{.code = errc::unavailable};
    got_.give_back();
  }

  void settle() noexcept HOLDFAST_REQUIRES(mutex_) {
    try {
      settle(asked_->finish());
    } catch (const std::bad_alloc&) {
      fail();
    }
  }

  void settle(runtime::acquired outcome) HOLDFAST_REQUIRES(mutex_) {
    if (auto* const one = std::get_if<grant>(&outcome)) return got_.add(std::move(*one));
    ended_ = without(*got_.next(), std::get<leasing::outcome>(std::move(outcome)));
    got_.give_back();
  }

  void check_all() HOLDFAST_REQUIRES(mutex_) {
    if (got_.are_held()) {
      ended_ = got_.join(name_);
      return;
    }
    got_.give_back();
    if (!patience_.waits) ended_ = lost_on_the_way();
  }

  void give_up() HOLDFAST_REQUIRES(mutex_) {
    got_.give_back();
    if (!ended_) return;
    if (auto* const all = std::get_if<grant>(&*ended_)) all->of->give_back({});
    ended_.reset();
  }

  const std::shared_ptr<const lock_list> wanted_;
  const std::string name_;
  std::stop_source stop_;
  std::optional<std::stop_callback<stopper>> forward_;
  std::shared_ptr<gathering> self_;  // while a part will be told
  mutex mutex_;
  gathered got_ HOLDFAST_GUARDED_BY(mutex_);
  leasing::patience patience_ HOLDFAST_GUARDED_BY(mutex_);
  runtime::listener who_ HOLDFAST_GUARDED_BY(mutex_);
  std::unique_ptr<runtime::acquisition> asked_ HOLDFAST_GUARDED_BY(mutex_);
  std::optional<runtime::acquired> ended_ HOLDFAST_GUARDED_BY(mutex_);
  bool abandoned_ HOLDFAST_GUARDED_BY(mutex_) = false;
  bool was_out_of_memory_ HOLDFAST_GUARDED_BY(mutex_) = false;
};

// The handle of a gathering, which may outlive it.
class gathering_acquisition final : public runtime::acquisition {
 public:
  explicit gathering_acquisition(std::shared_ptr<gathering> of) : of_(std::move(of)) {}
  bool begin(leasing::patience patience, std::stop_token stop,
             const runtime::listener& who) override {
    const auto alive = of_;  // a continuation may end this object before it returns
    return alive->begin(patience, std::move(stop), who);
  }
  runtime::acquired finish() override { return of_->finish(); }
  void abandon() override { of_->abandon(); }

 private:
  const std::shared_ptr<gathering> of_;
};

}  // namespace

std::unique_ptr<runtime::acquisition> gather(const std::shared_ptr<const lock_list>& wanted,
                                             const std::string& name) {
  return std::make_unique<gathering_acquisition>(std::make_shared<gathering>(wanted, name));
}

}  // namespace holdfast::several
