// deadlock/note.lua and deadlock/confirm.lua: who waits for whom, and whether it is a cycle.
#include "redis/dialects/holdfast/waits.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "redis/dialects/holdfast/waiting.hpp"
#include "scripts/script_client.hpp"

namespace holdfast::dialects {
namespace {

constexpr milliseconds counts{5000};

class DeadlockScripts : public scripts_test {
 protected:
  void SetUp() override {
    scripts_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    redis().must_acquire(a_);
    redis().must_acquire(b_);
    contents_ = redis().contents();
  }

  static known_wait waiting(const std::string& id, const lock_key& wants, const claim& has) {
    return {.id = id,
            .who = "host:" + id,
            .wants = {'x', wants.value_key()},
            .holds = {{{'x', has.key->value_key()}, std::string{has.owner.text()}}}};
  }
  static wait_record record_of(const known_wait& one) { return {one.id, to_record(one)}; }

  auto send(const wait_note& what, server_time not_after, milliseconds time = counts) {
    return read_note(key_space{}, redis().ask([&](auto& out) {
      write_note(key_space{}, what, time, not_after, out);
    }));
  }
  std::vector<known_wait> note(const std::vector<std::string>& ended,
                               const std::vector<known_wait>& waits, milliseconds time = counts) {
    wait_note what;
    if (!waits.empty()) what.read_from = first_part;
    for (const auto& one : ended) what.ended.push_back({one});
    for (const auto& one : waits) what.waits.push_back(record_of(one));
    auto verdict = send(what, never, time);
    EXPECT_TRUE(std::holds_alternative<part_of_waits>(verdict));
    auto all = std::get<0>(std::move(verdict)).waits;
    std::ranges::sort(all, {}, &known_wait::id);
    return all;
  }
  server_time in(milliseconds time) {
    return server_time{microseconds(static_cast<std::int64_t>(redis().micros()))} + time;
  }
  bool confirm(const known_wait& first, const known_wait& second, server_time noted_until = {}) {
    const std::vector<link_of_cycle> cycle{{&first, &second.holds.front()},
                                           {&second, &first.holds.front()}};
    const auto verdict = read_confirm(
        redis().ask([&](auto& out) { write_confirm(key_space{}, cycle, noted_until, out); }));
    EXPECT_TRUE(std::holds_alternative<bool>(verdict)) << script_client::why(verdict);
    return verdict == std::variant<bool, refused>(true);
  }

  const lock_key other_key_{"odd {name}\n%"};
  claims_of of_other_{other_key_, 3};
  claim a_ = claims.next();
  claim b_ = of_other_.next();
  std::string contents_;
  const known_wait first_ = waiting("1-1p", other_key_, a_), second_ = waiting("2-1p", key, b_);
};
HOLDFAST_ON_EACH_SERVER(DeadlockScripts);

TEST_P(DeadlockScripts, TellAllWaitsToWhoWritesOneDown) {
  EXPECT_EQ(note({}, {first_}), std::vector{first_});
  EXPECT_EQ(note({}, {second_}), (std::vector{first_, second_}));
  EXPECT_LE(redis().pttl("hf:waits"), counts.count());
  EXPECT_EQ(note({"1-1p"}, {}), std::vector<known_wait>{}) << "who only leaves asks nothing";
  EXPECT_EQ(note({}, {second_}), std::vector{second_});
  note({"2-1p", "unknown"}, {});
  EXPECT_FALSE(redis().exists("hf:waits"));
}

// Each client writes every 1.5 s: a script that told all to all would block the server.
TEST_P(DeadlockScripts, TellManyWaitsInParts) {
  constexpr std::size_t many = 2000;
  std::set<std::string> told;
  for (std::size_t i = 0; i < many; ++i) {
    auto one = first_;
    one.id = std::to_string(i) + "-1p";
    send({{}, {record_of(one)}}, never, milliseconds{60'000});
  }
  wait_note asks{.ended = {}, .waits = {}, .read_from = std::string{first_part}};
  std::size_t parts = 0;
  do {
    const auto part = std::get<part_of_waits>(send(asks, never));
    EXPECT_LT(part.waits.size(), 300U);
    for (const auto& one : part.waits) told.insert(one.id);
    asks.read_from = part.next;
    ++parts;
  } while (asks.read_from != first_part && parts < many);
  EXPECT_EQ(told.size(), many);
  EXPECT_GE(parts, many / 300);
}

TEST_P(DeadlockScripts, ForgetWhoWritesNoMore) {
  note({}, {first_}, milliseconds{1});
  const auto until = redis().micros() + 2000;
  while (redis().micros() < until) {
  }
  EXPECT_EQ(note({}, {second_}), std::vector{second_});
  EXPECT_EQ(redis().command({"HLEN", "hf:waits"}).number, 1);
}

TEST_P(DeadlockScripts, RefuseWhatComesTooLate) {
  const auto is_refused = [&](server_time not_after) {
    return std::holds_alternative<late>(send({{}, {record_of(first_)}}, not_after));
  };
  EXPECT_TRUE(is_refused(in(milliseconds{-1})));
  EXPECT_TRUE(is_refused(server_time{microseconds(1LL << 53)})) << "of who does not know the time";
  EXPECT_EQ(redis().contents(), contents_);
  EXPECT_FALSE(is_refused(in(lease)));
}

// The first of them was sent over a connection that broke, and is on its way still.
TEST_P(DeadlockScripts, TakeNoWaitThatHasEndedForOneWhenACopyComes) {
  const auto until = in(lease);
  const wait_note copy{{}, {record_of(first_)}};
  send(copy, until);
  send({{{first_.id, until}}, {}}, until);
  EXPECT_EQ(send(copy, until), decltype(read_note(key_space{}, {})){part_of_waits{}});
  EXPECT_EQ(note({}, {second_}), std::vector{second_});
  EXPECT_FALSE(confirm(second_, first_));
  EXPECT_GE(redis().pttl("hf:waits"), 25'000) << "it stays for as long as a copy may come";
  send({{{first_.id, in(milliseconds{-1})}}, {}}, until);
  EXPECT_EQ(redis().command({"HLEN", "hf:waits"}).number, 1) << "none can come any more";
}

TEST_P(DeadlockScripts, EndAWaitBeforeItWasWrittenDown) {
  const auto until = in(milliseconds{20});
  send({{{first_.id, until}}, {}}, until);
  EXPECT_EQ(note({}, {first_}, milliseconds{1}), std::vector<known_wait>{});
  EXPECT_TRUE(support::eventually([&] { return !redis().exists("hf:waits"); }));
}

TEST_P(DeadlockScripts, ConfirmACycleOnceAlsoWhenACopyOfItsWaitComes) {
  const auto until = in(lease);
  note({}, {second_});
  send({{}, {record_of(first_)}}, until);
  EXPECT_TRUE(confirm(first_, second_, until));
  send({{}, {record_of(first_)}}, until);
  EXPECT_FALSE(confirm(second_, first_));
}

// It could not be written down again either.
TEST_P(DeadlockScripts, EndAWaitAlsoWhenMemoryIsShort) {
  const auto until = in(lease);
  send({{}, {record_of(first_)}}, until);
  redis().command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_FALSE(std::holds_alternative<refused>(send({{{first_.id, until}}, {}}, until)));
  EXPECT_FALSE(redis().exists("hf:waits"));
}

TEST_P(DeadlockScripts, LeaveOutWhatTheyDoNotUnderstand) {
  note({}, {first_});
  redis().command({"HSET", "hf:waits", "x", "nonsense", "y", "99999999999999999\nnonsense"});
  EXPECT_EQ(note({}, {second_}), (std::vector{first_, second_}));
}

TEST_P(DeadlockScripts, ConfirmACycleOnce) {
  note({}, {first_, second_});
  EXPECT_TRUE(confirm(first_, second_));
  EXPECT_FALSE(confirm(second_, first_)) << "the first has ended its wait";
  EXPECT_EQ(note({}, {second_}), std::vector{second_});
}

TEST_P(DeadlockScripts, BelieveNoRecordOfALockThatIsNotHeldSoAnyMore) {
  note({}, {first_, second_});
  EXPECT_EQ(redis().release(b_), release_verdict(released{}));
  EXPECT_FALSE(confirm(first_, second_)) << "nobody has it";
  claim later = of_other_.next();
  redis().must_acquire(later);
  EXPECT_FALSE(confirm(first_, second_)) << "another request has it";
}

TEST_P(DeadlockScripts, BelieveNoWaitThatHasEndedOrChanged) {
  note({}, {first_, second_});
  auto changed = second_;
  changed.holds.clear();
  note({}, {changed});
  EXPECT_FALSE(confirm(first_, second_));
  note({"2-1p"}, {});
  EXPECT_FALSE(confirm(first_, second_));
  note({}, {first_});
  note({}, {second_}, milliseconds{1});
  const auto until = redis().micros() + 2000;
  while (redis().micros() < until) {
  }
  EXPECT_FALSE(confirm(first_, second_)) << "it was not written again";
}

TEST_P(DeadlockScripts, LeaveTheDeadOut) {
  auto listens = second_;
  const client_id client{{2}};
  listens.id = wait_id(client, 1, wakeup_way::channel);
  note({}, {first_, listens});
  EXPECT_FALSE(confirm(first_, listens));
  support::raw_connection ear{net::unix_endpoint{server().socket()}};
  ear.command({"SUBSCRIBE", channel_of(key_space{}, client)});
  EXPECT_TRUE(confirm(first_, listens));
}

TEST_P(DeadlockScripts, LookAtHoldersOfSharedLocksWhoseLeaseLasts) {
  const lock_key shared{"shared"};
  const auto mine = redis().micros() / 1000;
  const auto held_until = [&](token_major ms) {
    redis().command({"HSET", shared.value_key(), "r-1", "r1:17:" + std::to_string(ms)});
  };
  auto reader = second_;
  reader.holds = {{{'r', shared.value_key()}, "r-1"}};
  auto writer = first_;
  writer.wants = {'x', shared.value_key()};
  note({}, {writer, reader});
  EXPECT_FALSE(confirm(writer, reader)) << "nobody holds it";
  held_until(mine - 1);
  EXPECT_FALSE(confirm(writer, reader)) << "its lease has ended";
  held_until(mine + 60'000);
  EXPECT_TRUE(confirm(writer, reader));
}

}  // namespace
}  // namespace holdfast::dialects
