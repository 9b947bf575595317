#include "memory/memory_lock.hpp"

#include <utility>

#include "net/clock.hpp"
#include "runtime/local_lock.hpp"

namespace holdfast::memory {

memory_lock::memory_lock(memory_engine& owner,
                         const std::shared_ptr<const runtime::lock_spec>& spec,
                         leasing::patience patience, bool may_stop, runtime::local_lock* local)
    : lock_driver(owner, {spec, patience, may_stop, local},
                  spec->claim_of(owner.next_request(spec->is_retained()), patience.waits),
                  {.response_timeout = short_milliseconds{owner.options().response_timeout},
                   .renews = spec->renews}) {}

template <typename Tell>
void memory_lock::happen_soon(Tell tell) {
  owner().box()->push([whose = weak_from_this(), this, tell = std::move(tell)] {
    if (const auto alive = whose.lock()) happen(tell);
  });
}

ear memory_lock::its_ear() {
  return {weak_from_this(), [box = owner().box(), whose = weak_from_this(), this](news what) {
            box->push([whose, this, what] {
              if (const auto alive = whose.lock()) hear(what);
            });
          }};
}

void memory_lock::hear(news what) {
  if (what == news::wanted) return local_->revoke();
  happen([](auto& its) { return its.on_woken(present()); });
}

void memory_lock::post(const leasing::effects& what, runtime::listener&, bool) {
  const auto now = net::now();
  owner().table().with(spec().key, [&](lock_record& lock) {
    if (what.send == leasing::ask::acquire) {
      return happen_soon([verdict = lock.acquire(claim_, its_ear(), now), now](auto& its) {
        return its.on_acquired(verdict, now, present());
      });
    }
    const bool withdraws = what.send == leasing::ask::withdraw;
    auto verdict = withdraws ? lock.withdraw(claim_, now) : lock.release(claim_, now);
    happen_soon([verdict = std::move(verdict)](auto& its) {
      return its.on_given_back(verdict, present());
    });
  });
}

void memory_lock::carry_out(const leasing::effects& all) {
  if (!all.renew) return;
  const auto now = net::now();
  owner().table().with(spec().key, [&](lock_record& lock) {
    happen_soon([verdict = lock.renew(claim_, now), now, this](auto& its) {
      return its.on_renewed(verdict, now, is_being_changed(), present());
    });
  });
}

result<runtime::lock_driver::extension_answer> memory_lock::ask_to_extend(milliseconds duration) {
  auto longer = claim_;
  longer.lease = duration;
  const auto now = net::now();
  result<extension_answer> answer =
      failure{errc::lost, "the lease had ended before it was extended"};
  if (!held()) return answer;
  owner().table().with(spec().key, [&](lock_record& lock) {
    answer = extension_answer{lock.renew(longer, now), now, now};
  });
  return answer;
}

}  // namespace holdfast::memory
