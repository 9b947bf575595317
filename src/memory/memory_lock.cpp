#include "memory/memory_lock.hpp"

#include <utility>

#include "net/clock.hpp"

namespace holdfast::memory {
namespace {

using runtime::lock_spec;

class ear_of_a_lock final : public ear {
 public:
  ear_of_a_lock(std::shared_ptr<inbox> in, std::weak_ptr<memory_lock> whose,
                std::atomic<std::uint64_t>& position)
      : inbox_(std::move(in)), whose_(std::move(whose)), position_(position) {}

  void hear(const news& what) override {
    inbox_->push(whose_, [what, at = ++position_](memory_lock& who) { who.hear(what, at); });
  }
  bool is_gone() const noexcept override { return whose_.expired(); }

 private:
  const std::shared_ptr<inbox> inbox_;
  const std::weak_ptr<memory_lock> whose_;
  std::atomic<std::uint64_t>& position_;  // of the table
};

substrate::claim claim_of(memory_engine& owner, const lock_spec& spec,
                          const leasing::patience& patience) {
  return {.key = &spec.key,
          .wants = spec.wants.get(),
          .owner = owner.next_request(spec.is_retained()),
          .lease = spec.lease,
          .delay = spec.delay,
          .waits = patience.waits,
          .queue_limit = spec.queue_limit};
}

leasing::lock_session::terms terms_of(memory_engine& owner, const lock_spec& spec) {
  return {.response_timeout = short_milliseconds{owner.options().response_timeout},
          .renews = spec.renews};
}

}  // namespace

memory_lock::memory_lock(memory_engine& owner, const std::shared_ptr<const lock_spec>& spec,
                         leasing::patience patience, bool may_stop, runtime::local_lock* local)
    : lock_driver(owner, {spec, patience, may_stop, local}, claim_of(owner, *spec, patience),
                  terms_of(owner, *spec)) {}

template <typename Ask, typename Tell>
void memory_lock::ask(Ask ask, Tell tell) {
  auto& table = owner().table();
  const scoped_mutex lock(table.guard);
  const auto key = spec().key.value_key();
  auto& known = table.locks.try_emplace(key, table.counter).first->second;
  auto verdict = ask(known);
  if (known.is_unused()) table.locks.erase(key);
  tell(std::move(verdict), ++table.position);
}

void memory_lock::post(const leasing::effects& what, runtime::listener&, bool) {
  const auto now = net::now();
  if (what.send == leasing::ask::acquire) {
    if (!ear_) {
      ear_ = std::make_shared<ear_of_a_lock>(owner().box(), self(), owner().table().position);
    }
    return ask(
        [&, its_ear = ear_](lock_record& of) { return of.acquire(claim_, its_ear, now); },
        [&](substrate::acquire_verdict verdict, std::uint64_t position) {
          owner().box()->push(
              self(), [verdict = std::move(verdict), now, position](memory_lock& who) {
                who.happen(
                    [&](auto& its) { return its.on_acquired(verdict, now, present(), position); },
                    true);
              });
        });
  }
  const bool withdraws = what.send == leasing::ask::withdraw;
  ask(
      [&](lock_record& of) {
        return withdraws ? of.withdraw(claim_, now) : of.release(claim_, now);
      },
      [&](substrate::release_verdict verdict, std::uint64_t) {
        owner().box()->push(self(), [verdict = std::move(verdict)](memory_lock& who) {
          who.happen([&](auto& its) { return its.on_given_back(verdict, present()); });
        });
      });
}

void memory_lock::carry_out(const leasing::effects& all) {
  if (!all.renew) return;
  const auto now = net::now();
  ask([&](lock_record& of) { return of.renew(claim_, now); },
      [&](substrate::renew_verdict verdict, std::uint64_t) {
        owner().box()->push(self(), [verdict = std::move(verdict), now](memory_lock& who) {
          who.happen([&](auto& its) {
            return its.on_renewed(verdict, now, who.is_being_changed(), present());
          });
        });
      });
}

result<runtime::lock_driver::extension_answer> memory_lock::ask_to_extend(milliseconds duration) {
  if (!held()) return failure{errc::lost, "the lease had ended before it was extended"};
  auto longer = claim_;
  longer.lease = duration;
  const auto now = net::now();
  extension_answer answer{substrate::not_mine{}, now, now};
  ask([&](lock_record& of) { return of.renew(longer, now); },
      [&](substrate::renew_verdict verdict, std::uint64_t) {
        answer.verdict = std::move(verdict);
      });
  return answer;
}

void memory_lock::hear(const news& what, std::uint64_t position) {
  if (std::holds_alternative<wanted>(what)) return owner().revoke(claim_.owner);
  happen([&](auto& its) {
    const auto now = present();
    if (const auto* const first = std::get_if<first_in_line>(&what)) {
      return its.on_first_in_line(first->owner_has, now, position);
    }
    if (const auto* const grant = std::get_if<handed_over>(&what)) {
      return its.on_handed_over(grant->grant, grant->at, now, position);
    }
    return its.on_woken(now);
  });
}

void memory_lock::on_woken() {
  happen([](auto& its) { return its.on_woken(present()); });
}

}  // namespace holdfast::memory
