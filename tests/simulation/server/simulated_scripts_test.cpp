// The simulated server runs the scripts of the locks as real ones do.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "redis/dialects/catalog.hpp"
#include "redis/dialects/holdfast/shared_holders.hpp"
#include "redis/dialects/holdfast/waiting.hpp"
#include "simulation/server/two_servers.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

// How often each has happened.
struct happened {
  int granted = 0, granted_again = 0, shared = 0, queued = 0, full = 0, late = 0;
  int handed_over = 0, told_to_be_next = 0, asked_for_it_back = 0;
  int renewed = 0, renewal_of_nothing = 0;
  int released = 0, release_of_nothing = 0, withdrawn_with_grant = 0;
};

class SimulatedScriptsAndReal : public two_servers {
 protected:
  static constexpr std::size_t clients = 5;

  void SetUp() override {
    two_servers::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    // The last one is gone: nobody listens to its channel.
    for (std::size_t i = 0; i + 1 < clients; ++i)
      listen(dialects::channel_of(key_space{}, id_of(i)));
  }

  // Clients that want this of one lock do what clients do, and what they should not.
  void run_scripts(const dialects::recipe& recipe,
                   const std::array<const substrate::demand*, clients>& wants) {
    recipe_ = &recipe;
    wants_ = wants;
    for (std::size_t i = 0; i < clients; ++i) ask_anew(i);
    for (int i = 0; i < 15000 && !HasFailure(); ++i) {
      const auto who = pick(clients);
      switch (pick(8)) {
        case 0:
          pass(microseconds(pick(pick(4) == 0 ? 1'500'000 : 50'000)));
          break;
        case 1:
        case 2:
        case 3:
          acquire(who);
          break;
        case 4:
        case 5:
          renew(who);
          break;
        case 6:
          release(who);
          break;
        default:
          if (pick(3) == 0) withdraw(who);
      }
      listen_to_all();
    }
  }

  // Clients have seen all that a holder and a waiter can see.
  void expect_all_of_it() const {
    if (HasFailure()) return;
    EXPECT_GT(saw_.granted, 50);
    EXPECT_GT(saw_.granted_again, 50);
    EXPECT_GT(saw_.queued, 200);
    EXPECT_GT(saw_.full, 10);
    EXPECT_GT(saw_.late, 20);
    EXPECT_GT(saw_.handed_over, 50);
    EXPECT_GT(saw_.told_to_be_next, 20);
    EXPECT_GT(saw_.renewed, 100);
    EXPECT_GT(saw_.renewal_of_nothing, 100);
    EXPECT_GT(saw_.released, 50);
    EXPECT_GT(saw_.release_of_nothing, 50);
    EXPECT_GT(saw_.withdrawn_with_grant, 5);
  }

  happened saw_;

 private:
  static client_id id_of(std::size_t who) {
    return client_id{{static_cast<std::uint8_t>(who + 1)}};
  }

  void ask_anew(std::size_t who) {
    auto& one = claims_.at(who);
    one = {.key = &key_,
           .wants = wants_.at(who),
           .owner = request_id{id_of(who), ++requests_, pick(3) == 0},
           .lease = 300ms + milliseconds(pick(2000)),
           .floor = pick(10) == 0 ? one.granted : 0,
           .waits = pick(4) != 0,
           .way = pick(8) == 0 ? substrate::wakeup_way::poll : substrate::wakeup_way::channel};
    if (pick(6) == 0) one.queue_limit = 1;
  }

  template <typename Write>
  resp::value ask(Write write) {
    std::string bytes;
    resp::writer out{bytes, resp::writer::scripts::by_text};
    write(out);
    return both(bytes);
  }

  void acquire(std::size_t who) {
    auto& one = claims_.at(who);
    const bool asked_before = pick(2) == 0;
    const auto not_after = now() + (pick(30) == 0 ? -1us : 1'000'000us);
    const auto answer =
        ask([&](auto& out) { recipe_->write_acquire(one, asked_before, not_after, out); });
    const auto verdict = recipe_->read_acquire(one, answer);
    if (const auto* const grant = std::get_if<substrate::granted>(&verdict)) {
      ++(one.granted == 0 ? saw_.granted : saw_.granted_again);
      one.granted = grant->major;
      if (holders() > 1) ++saw_.shared;
    } else if (const auto* const place = std::get_if<substrate::queued>(&verdict)) {
      ++saw_.queued;
      one.ticket = place->ticket;
    } else if (const auto* const why = std::get_if<substrate::refused>(&verdict)) {
      EXPECT_EQ(why->code, errc::queue_full) << why->detail;
      ++saw_.full;
      ask_anew(who);
    } else if (std::holds_alternative<substrate::late>(verdict)) {
      ++saw_.late;
    }
  }

  void renew(std::size_t who) {
    const auto& one = claims_.at(who);
    const auto answer = ask([&](auto& out) {
      const auto* const only = &one;
      recipe_->write_renew({&only, 1}, now() + 1s, out);
    });
    const auto verdict = recipe_->read_renew(answer, 0);
    ++(std::holds_alternative<substrate::renewed>(verdict) ? saw_.renewed
                                                           : saw_.renewal_of_nothing);
  }

  void release(std::size_t who) {
    const auto answer = ask([&](auto& out) { recipe_->write_release(claims_.at(who), out); });
    const bool given_back =
        std::holds_alternative<substrate::released>(recipe_->read_release(answer));
    ++(given_back ? saw_.released : saw_.release_of_nothing);
    if (given_back) ask_anew(who);
  }

  void withdraw(std::size_t who) {
    const auto answer = ask([&](auto& out) { recipe_->write_withdraw(claims_.at(who), out); });
    const auto verdict = recipe_->read_release(answer);
    if (std::holds_alternative<substrate::released>(verdict)) ++saw_.withdrawn_with_grant;
    if (pick(5) != 0) ask_anew(who);  // otherwise a copy of it may come late
  }

  void listen_to_all() {
    for (const auto& push : heard()) {
      for (std::size_t who = 0; who < clients; ++who) {
        hear(who, dialects::read_message(key_space{}, id_of(who), push.items.at(2).text));
      }
    }
  }

  void hear(std::size_t who, const std::optional<dialects::channel_message>& said) {
    if (!said) return;
    auto& one = claims_.at(who);
    if (std::holds_alternative<dialects::first_in_line>(*said)) ++saw_.told_to_be_next;
    if (std::holds_alternative<dialects::wanted>(*said)) ++saw_.asked_for_it_back;
    const auto* const grant = std::get_if<dialects::handed_over>(&*said);
    if (grant == nullptr || grant->request != one.owner.counter()) return;
    ++saw_.handed_over;
    one.granted = grant->major;
    if (holders() > 1) ++saw_.shared;
  }

  // Of a lock that several can have.
  std::size_t holders() {
    const auto value = key_.value_key();
    const auto fields = simulated().look(std::array<std::string_view, 2>{"HGETALL", value});
    const auto all = dialects::read_holders(fields);
    return static_cast<std::size_t>(
        std::ranges::count_if(all, [&](const auto& one) { return one.until > now(); }));
  }

  const lock_key key_{"orders:42"};
  const dialects::recipe* recipe_ = nullptr;
  std::array<const substrate::demand*, clients> wants_{};
  std::array<substrate::claim, clients> claims_ = [] {
    const substrate::claim none{.owner = request_id{id_of(0), 0}};
    return std::array{none, none, none, none, none};
  }();
  std::uint64_t requests_ = 0;
};

HOLDFAST_ON_EACH_SERVER(SimulatedScriptsAndReal);

TEST_P(SimulatedScriptsAndReal, RunThoseOfMutexesAlike) {
  run_scripts(dialects::native_mutex(fencing::on), {});
  expect_all_of_it();
  EXPECT_GT(saw_.asked_for_it_back, 50);
}

TEST_P(SimulatedScriptsAndReal, RunThoseOfMutexesWithoutTokensAlike) {
  run_scripts(dialects::native_mutex(fencing::off), {});
  expect_all_of_it();
}

TEST_P(SimulatedScriptsAndReal, RunThoseOfSharedLocksAlike) {
  const substrate::demand reads{.mode = 'r'}, may_write{.mode = 'u'}, writes{.mode = 'x'};
  run_scripts(dialects::native_shared_lock(), {&reads, &reads, &may_write, &writes, &reads});
  expect_all_of_it();
  EXPECT_GT(saw_.shared, 100);
}

TEST_P(SimulatedScriptsAndReal, RunThoseOfSemaphoresAlike) {
  const substrate::demand one{.mode = 's', .limit = 3}, two{.mode = 's', .weight = 2, .limit = 3};
  run_scripts(dialects::native_shared_lock(), {&one, &one, &two, &two, &one});
  expect_all_of_it();
  EXPECT_GT(saw_.shared, 100);
}

}  // namespace
}  // namespace holdfast::simulation
