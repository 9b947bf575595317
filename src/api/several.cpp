#include "api/several.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <optional>
#include <utility>

#include "base/mutex.hpp"
#include "base/printable.hpp"
#include "redis/locks/joint_request.hpp"
#include "redis/locks/redis_engine.hpp"
#include "runtime/client_core.hpp"
#include "runtime/executor.hpp"
#include "runtime/lock_access.hpp"
#include "runtime/lock_driver.hpp"
#include "runtime/loss_notice.hpp"

namespace holdfast::api {
namespace {

using detail::lock_access;
using redis_locks::joint_request;
using runtime::grant;

failure of_part(const failure& why, const std::string& name) {
  return failure{why.reason(), "'" + printable(name) + "' of several locks: " + why.what()};
}

class several final : public runtime::holding, public std::enable_shared_from_this<several> {
 public:
  several(std::string name, const lock_list& wanted, const std::vector<grant>& got)
      : name_(std::move(name)), core_(lock_access::core(wanted.front())) {
    for (std::size_t i = 0; i < got.size(); ++i) {
      parts_.push_back(std::make_unique<part>(*this, lock_access::core(wanted[i]), got[i]));
    }
  }

  ~several() override {
    if (core_->engine().is_in_its_process()) return;
    // They may have been at work in the parent, and would be waited for.
    for (auto& one : losses_) (void)one.release();
  }

  const std::string& name() const noexcept override { return name_; }

  bool held() const noexcept override {
    return std::ranges::all_of(parts_, [](const auto& one) { return one->what->held(); });
  }
  lease_mode mode() const noexcept override { return lease_mode::several; }
  nanoseconds remaining() const noexcept override {
    auto least = nanoseconds::max();
    for (const auto& one : parts_) least = std::min(least, one->what->remaining());
    return least;
  }

  std::stop_token lost() override {
    const scoped_mutex lock(mutex_);
    if (losses_.empty()) {
      decltype(losses_) all;  // or none
      for (const auto& one : parts_) {
        auto& thread = one->client->engine().callbacks();
        all.push_back(
            std::make_unique<std::stop_callback<loss>>(one->what->lost(), loss{lost_, thread}));
      }
      losses_.swap(all);
    }
    return lost_.get_token();
  }

  result<void> extend(milliseconds duration) override {
    for (const auto& one : parts_) {
      if (auto done = one->what->extend(duration); !done) {
        return of_part(done.error(), one->what->name());
      }
    }
    return {};
  }

  bool give_back(const runtime::listener& who) override {
    forget_losses();
    if (!who.exists()) {
      give_parts_back({});
      return false;
    }
    self_ = shared_from_this();
    who_ = who;
    left_ = parts_.size() + 1;
    give_parts_back(who);
    gone();
    return true;
  }
  result<void> take_released() override {
    for (const auto& one : parts_) {
      if (!one->is_told) continue;
      if (auto done = one->what->take_released(); !done) {
        return of_part(done.error(), one->what->name());
      }
    }
    return {};
  }
  result<void> give_back_and_wait() override {
    struct ending final : detail::completion {
      void complete() noexcept override { told = true; }
      bool told = false;
    } all;
    const auto alive = shared_from_this();
    runtime::executor here;
    here.will_drive(core_);
    give_back({.completion = &all, .executor = &here});
    here.run_until(all.told);
    return take_released();
  }

  std::vector<held_part> list() const {
    std::vector<held_part> all;
    for (const auto& one : parts_) {
      const auto mode = one->what->held() ? one->what->mode() : lease_mode::none;
      all.push_back({one->what->name(), fencing_token{one->token}, mode});
    }
    return all;
  }

 private:
  struct part final : detail::completion {
    part(several& all, std::shared_ptr<runtime::client_core> whose, const grant& one)
        : of(all), client(std::move(whose)), what(one.of), token(one.token) {
      const auto* const alone = dynamic_cast<const runtime::lock_driver*>(what.get());
      joins = alone != nullptr && joint_request::can_have(alone->spec());
      if (alone != nullptr) slot = alone->spec().key.slot();
    }
    void complete() noexcept override { of.gone(); }
    several& of;
    const std::shared_ptr<runtime::client_core> client;
    const std::shared_ptr<runtime::holding> what;
    const std::uint64_t token;
    std::uint16_t slot = 0;
    bool joins = false;
    bool is_told = false;
  };
  // What the user hangs on the signal runs after this, and not within it: it may destroy the lease,
  // or wait for another thread that does, and that waits for this to end.
  struct loss {
    std::stop_source of_all;
    runtime::callback_thread& thread;
    void operator()() const noexcept { thread.post(*new runtime::loss_notice{of_all}); }
  };

  static bool share_a_command(const part& a, const part& b) {
    const auto* const at = runtime::find_engine<redis_locks::redis_engine>(a.client->engine());
    return a.client == b.client && (a.slot == b.slot || (at != nullptr && !at->is_cluster()));
  }

  // Null: there is no memory for it, or no server, and each goes back by itself.
  std::unique_ptr<joint_request> command_for_all(runtime::engine& where) const noexcept {
    auto* const at = runtime::find_engine<redis_locks::redis_engine>(where);
    const auto most = std::min(parts_.size(), joint_request::most);
    try {
      return at == nullptr ? nullptr : std::make_unique<joint_request>(*at, most);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  // All of one client in one command, as far as they can be.
  void give_parts_back(const runtime::listener& who) {
    using redis::delivery;
    // All are told there, also those of other clients, whose connections this thread does not
    // drive: it may be the callback thread of one of them.
    auto* const here = who.executor;
    for (auto from = parts_.begin(), to = from; from != parts_.end(); from = to) {
      auto joint = command_for_all((*from)->client->engine());
      const auto fits = [&] { return joint == nullptr || !joint->is_full(); };
      for (; to != parts_.end() && share_a_command(**to, **from) && fits(); ++to) {
        part& one = **to;
        one.is_told = one.what->give_back({.completion = who.exists() ? &one : nullptr,
                                           .executor = here,
                                           .together = one.joins ? joint.get() : nullptr});
        if (!one.is_told && who.exists()) --left_;
      }
      joint_request::submit(std::move(joint), here != nullptr ? &here->waiter() : nullptr,
                            here != nullptr ? delivery::driven
                            : who.exists()  ? delivery::prompt
                                            : delivery::lazy);
    }
  }

  // A part was given back, or all have been told to go.
  void gone() noexcept {
    if (left_.fetch_sub(1) != 1) return;
    const auto alive = std::exchange(self_, nullptr);
    who_.tell(core_->engine());
  }

  // What is released is not lost.
  void forget_losses() {
    std::vector<std::unique_ptr<std::stop_callback<loss>>> old;
    const scoped_mutex lock(mutex_);
    old.swap(losses_);
  }

  const std::string name_;
  const std::shared_ptr<runtime::client_core> core_;
  std::vector<std::unique_ptr<part>> parts_;
  std::shared_ptr<several> self_;
  runtime::listener who_;
  std::atomic<std::size_t> left_{0};
  mutex mutex_;
  std::stop_source lost_;
  std::vector<std::unique_ptr<std::stop_callback<loss>>> losses_ HOLDFAST_GUARDED_BY(mutex_);
};

// Asks for one after another. What ends it early is the stop of the part that is asked for, which
// comes on the callback thread in any case: so it is told once for each part, and nobody else may
// be told that this is gone.
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
    // Under the mutex: who abandons this knows then whether he was told, and may withdraw it.
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

  // What has been got goes back; who waits throws std::bad_alloc.
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

bool gathered::are_held() const noexcept {
  return std::ranges::all_of(got_, [](const grant& one) { return one.of->held(); });
}

// What the parent of a forked child has got on its way is the parent's.
void gathered::give_back() noexcept {
  if (!lock_access::core(wanted_->front())->engine().is_in_its_process()) return;
  for (const auto& one : got_) one.of->give_back({});
  got_.clear();
}

grant gathered::join(const std::string& name) {
  const auto largest = std::ranges::max(got_, {}, &grant::token).token;
  const bool waited = std::ranges::any_of(got_, &grant::waited);
  grant all{std::make_shared<several>(name, *wanted_, got_), largest, waited};
  got_.clear();
  return all;
}

leasing::outcome without(const lock& part, leasing::outcome outcome) {
  const auto of = "'" + printable(part.name()) + "' was not obtained";
  outcome.detail = outcome.detail.empty() ? of : of + ": " + outcome.detail;
  return outcome;
}

std::unique_ptr<runtime::acquisition> gather(const std::shared_ptr<const lock_list>& wanted,
                                             const std::string& name) {
  return std::make_unique<gathering_acquisition>(std::make_shared<gathering>(wanted, name));
}

}  // namespace holdfast::api

namespace holdfast {

std::vector<held_part> parts(const lease& held) {
  const auto* const all =
      dynamic_cast<const api::several*>(detail::lock_access::holding(held).get());
  if (all != nullptr) return all->list();
  return {{held.name(), held.token(), held.mode()}};
}

}  // namespace holdfast
