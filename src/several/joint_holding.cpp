#include "several/joint_holding.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/printable.hpp"
#include "redis/locks/redis_engine.hpp"
#include "runtime/executor.hpp"
#include "runtime/lock_access.hpp"
#include "runtime/lock_driver.hpp"
#include "runtime/loss_notice.hpp"

namespace holdfast::several {

using detail::lock_access;
using redis_locks::joint_request;

namespace {

failure of_part(const failure& why, const std::string& name) {
  return failure{why.reason(), "'" + printable(name) + "' of several locks: " + why.what()};
}

}  // namespace

struct joint_holding::part final : detail::completion {
  part(joint_holding& all, std::shared_ptr<runtime::client_core> whose, const runtime::grant& one)
      : of(all), client(std::move(whose)), what(one.of), token(one.token) {
    const auto* const alone = dynamic_cast<const runtime::lock_driver*>(what.get());
    joins = alone != nullptr && joint_request::can_have(alone->spec());
    if (alone != nullptr) slot = alone->spec().key.slot();
  }
  void complete() noexcept override { of.gone(); }
  joint_holding& of;
  const std::shared_ptr<runtime::client_core> client;
  const std::shared_ptr<runtime::holding> what;
  const std::uint64_t token;
  std::uint16_t slot = 0;
  bool joins = false;
  bool is_told = false;
};

// The user's callbacks on the signal run after this, and not within it. They may destroy the lease,
// or wait for a thread that does, and destroying waits for this to end.
struct joint_holding::loss {
  std::stop_source of_all;
  runtime::callback_thread& thread;
  void operator()() const noexcept { thread.post(*new runtime::loss_notice{of_all}); }
};

joint_holding::joint_holding(std::string name, const lock_list& wanted,
                             const std::vector<runtime::grant>& got)
    : name_(std::move(name)), core_(lock_access::core(wanted.front())) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    parts_.push_back(std::make_unique<part>(*this, lock_access::core(wanted[i]), got[i]));
  }
}

joint_holding::~joint_holding() {
  if (core_->engine().is_in_its_process()) return;
  // They may have been at work in the parent, and would be waited for.
  for (auto& one : losses_) (void)one.release();
}

bool joint_holding::held() const noexcept {
  return std::ranges::all_of(parts_, [](const auto& one) { return one->what->held(); });
}

nanoseconds joint_holding::remaining() const noexcept {
  auto least = nanoseconds::max();
  for (const auto& one : parts_) least = std::min(least, one->what->remaining());
  return least;
}

std::vector<held_part> joint_holding::list() const {
  std::vector<held_part> all;
  for (const auto& one : parts_) {
    const auto mode = one->what->held() ? one->what->mode() : lease_mode::none;
    all.push_back({one->what->name(), fencing_token{one->token}, mode});
  }
  return all;
}

result<void> joint_holding::extend(milliseconds duration) {
  for (const auto& one : parts_) {
    if (auto done = one->what->extend(duration); !done) {
      return of_part(done.error(), one->what->name());
    }
  }
  return {};
}

void joint_holding::tell_own_locks(const runtime::engine& of, std::uint64_t,
                                   const telling& tell) const {
  for (const auto& one : parts_) {
    if (&one->client->engine() == &of) one->what->tell_own_locks(of, one->token, tell);
  }
}

// ---- losing it ---------------------------------------------------------------------------------

std::stop_token joint_holding::lost() {
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

// A released lease is not lost.
void joint_holding::forget_losses() {
  decltype(losses_) old;
  const scoped_mutex lock(mutex_);
  old.swap(losses_);
}

// ---- giving it back ----------------------------------------------------------------------------

bool joint_holding::give_back(const runtime::listener& who) {
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

result<void> joint_holding::take_released() {
  for (const auto& one : parts_) {
    if (!one->is_told) continue;
    if (auto done = one->what->take_released(); !done) {
      return of_part(done.error(), one->what->name());
    }
  }
  return {};
}

result<void> joint_holding::give_back_and_wait() {
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

bool joint_holding::share_a_command(const part& a, const part& b) {
  const auto* const at = runtime::find_engine<redis_locks::redis_engine>(a.client->engine());
  return a.client == b.client && (a.slot == b.slot || (at != nullptr && !at->is_cluster()));
}

// Null: there is no memory for it, or no server, and each part goes back by itself.
std::unique_ptr<joint_request> joint_holding::command_for_all(std::size_t parts,
                                                              runtime::engine& where) noexcept {
  auto* const at = runtime::find_engine<redis_locks::redis_engine>(where);
  const auto most = std::min(parts, joint_request::most);
  try {
    return at == nullptr ? nullptr : std::make_unique<joint_request>(*at, most);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// All of one client in one command, as far as they can be.
void joint_holding::give_parts_back(const runtime::listener& who) {
  using redis::delivery;
  // All are told there, also those of other clients, whose connections this thread does not drive:
  // it may be the callback thread of one of them.
  auto* const here = who.executor;
  for (auto from = parts_.begin(), to = from; from != parts_.end(); from = to) {
    auto joint = command_for_all(parts_.size(), (*from)->client->engine());
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
void joint_holding::gone() noexcept {
  if (left_.fetch_sub(1) != 1) return;
  const auto alive = std::exchange(self_, nullptr);
  who_.tell(core_->engine());
}

}  // namespace holdfast::several
