// How entries of the audit trail are put together: each row by itself, without a server.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "inspection/audit_book.hpp"

namespace holdfast::inspection {
namespace {

using dialects::break_entry;
using dialects::trail_entry;
using dialects::trail_event;

constexpr milliseconds now{1'000'000};
const std::string one_client(32, 'a');
const std::string other_client(32, 'b');

// Tokens of a mutex have a major, and what a client has handed on.
constexpr std::uint64_t token(std::uint64_t major, std::uint64_t minor = 0) {
  return major * substrate::minors_per_major + minor;
}

trail_entry granted(milliseconds at, std::uint64_t token, const std::string& client = one_client,
                    std::string name = "a") {
  return {.what = trail_event::granted,
          .name = std::move(name),
          .kind = lock_kind::mutex,
          .token = token,
          .error = {},
          .grant = std::to_string(at.count()),
          .granted = at,
          .at = at,
          .by = {.host = "h", .pid = 1, .program = "p", .client = client}};
}

trail_entry ended(trail_entry grant, milliseconds at, trail_event how = trail_event::released) {
  grant.what = how;
  grant.at = at;
  return grant;
}

lock_status held_with(std::uint64_t token) {
  lock_status found;
  found.holding = 1;
  found.holders.push_back({.who = {}, .token = fencing_token{token}});
  return found;
}

audit_record only(const audit_book& book, const audit_witness& beside = {}) {
  const auto all = book.records(milliseconds{0}, now, beside);
  EXPECT_EQ(all.size(), 1U);
  return all.empty() ? audit_record{} : all.front();
}

TEST(AuditBook, PutsAGrantAndItsEndTogether) {
  audit_book book("a");
  const auto grant = granted(milliseconds{100}, token(1));
  book.add(grant);
  book.add(ended(grant, milliseconds{150}));
  book.add(grant);  // sent again
  book.add(ended(grant, milliseconds{150}));
  book.add(granted(milliseconds{200}, token(2), one_client, "b"));
  const auto found = only(book);
  EXPECT_EQ(found.name, "a");
  EXPECT_EQ(found.how, grant_end::released);
  EXPECT_EQ(found.who.host, "h");
  EXPECT_EQ(found.who.id, std::string(16, 'a'));
  EXPECT_EQ(found.granted->time_since_epoch(), milliseconds{100});
  EXPECT_EQ(found.ended->time_since_epoch(), milliseconds{150});
}

TEST(AuditBook, AnEndAloneTellsOfItsGrant) {
  audit_book book("*");
  book.add(ended(granted(milliseconds{100}, token(1)), milliseconds{150}, trail_event::lost));
  EXPECT_EQ(only(book).how, grant_end::lost);
  EXPECT_EQ(only(book).granted->time_since_epoch(), milliseconds{100});
}

TEST(AuditBook, WhatTheServerStillKnowsIsHeld) {
  audit_book book("*");
  book.add(granted(milliseconds{100}, token(1, 3)));
  audit_witness beside;
  beside.held["a"] = held_with(token(1));
  beside.gone.insert(one_client);
  EXPECT_EQ(only(book, beside).how, grant_end::held);
  beside.held["a"] = held_with(token(2));
  EXPECT_EQ(only(book, beside).how, grant_end::expired);
  beside.held["a"].holding = 200;
  EXPECT_EQ(only(book, beside).how, grant_end::unknown) << "not all holders are shown";
}

// A client that lives may still tell how it ended.
TEST(AuditBook, ExpiredIsSaidOnlyOfAClientThatIsGone) {
  audit_book book("*");
  book.add(granted(milliseconds{100}, token(1)));
  audit_witness beside;
  EXPECT_EQ(only(book, beside).how, grant_end::unknown);
  beside.gone.insert(one_client);
  EXPECT_EQ(only(book, beside).how, grant_end::expired);
  EXPECT_FALSE(only(book, beside).ended);
  beside.unseen.insert("a");
  EXPECT_EQ(only(book, beside).how, grant_end::unknown);
  beside.unseen.clear();
  beside.saw_no_others = true;
  EXPECT_EQ(only(book, beside).how, grant_end::unknown);
}

TEST(AuditBook, ExpiredIsSaidWhereAMutexWasGrantedAgainLongAgo) {
  const auto how_after = [](milliseconds next_at, lock_kind kind) {
    audit_book book("*");
    auto first = granted(milliseconds{100}, token(1));
    auto next = granted(next_at, token(2), other_client);
    first.kind = next.kind = kind;
    book.add(first);
    book.add(next);
    audit_witness beside;
    beside.held["a"] = held_with(token(2));
    const auto all = book.records(milliseconds{0}, now, beside);
    EXPECT_EQ(all.at(1).how, grant_end::held);
    return all.at(0).how;
  };
  EXPECT_EQ(how_after(now - milliseconds{5'000}, lock_kind::mutex), grant_end::expired);
  EXPECT_EQ(how_after(now - milliseconds{4'999}, lock_kind::mutex), grant_end::unknown);
  EXPECT_EQ(how_after(now - milliseconds{5'000}, lock_kind::semaphore), grant_end::unknown);
}

TEST(AuditBook, ABreakEndsWhatTheServerKnew) {
  audit_book book("*");
  const auto handed_on = granted(milliseconds{1'000}, token(1, 0));
  const auto broken = granted(milliseconds{2'000}, token(1, 1));
  const auto unaware = granted(milliseconds{4'000}, token(1, 2));
  book.add(handed_on);
  book.add(ended(handed_on, milliseconds{1'900}));
  book.add(broken);
  book.add(ended(broken, milliseconds{3'500}));  // its holder had not noticed
  book.add(unaware);
  book.add(ended(unaware, milliseconds{5'000}, trail_event::lost));
  book.add(break_entry{"a", "owner", token(1), "root@h:1", "stuck", milliseconds{3'000}});
  const auto all = book.records(milliseconds{0}, now, {});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].how, grant_end::released);
  EXPECT_EQ(all[1].how, grant_end::broken);
  EXPECT_EQ(all[1].by, "root@h:1");
  EXPECT_EQ(all[1].reason, "stuck");
  EXPECT_EQ(all[1].ended->time_since_epoch(), milliseconds{3'000});
  EXPECT_EQ(all[2].how, grant_end::lost);
}

TEST(AuditBook, ABreakWithoutAGrantIsARecordOfItsOwn) {
  audit_book book("a*");
  book.add(break_entry{"a", "owner", 0, "root@h:1", "stuck", milliseconds{3'000}});
  book.add(break_entry{"b", "owner", 0, "root@h:1", "stuck", milliseconds{3'000}});
  EXPECT_EQ(only(book).how, grant_end::broken);
  EXPECT_EQ(only(book).who.id, "owner");
  EXPECT_FALSE(only(book).granted);
}

// Of grants without tokens only the client tells.
TEST(AuditBook, ABreakOfALockWithoutTokensIsOfThatClient) {
  audit_book book("*");
  book.add(granted(milliseconds{100}, 0));
  book.add(granted(milliseconds{200}, 0, other_client));
  book.add(break_entry{"a", std::string(16, 'b') + "-2", 0, "root@h:1", "", milliseconds{300}});
  const auto all = book.records(milliseconds{0}, now, {});
  EXPECT_EQ(all.at(0).how, grant_end::unknown);
  EXPECT_EQ(all.at(1).how, grant_end::broken);
}

TEST(AuditBook, TellsWhatHappenedSinceThen) {
  audit_book book("*");
  const auto before = granted(milliseconds{100}, token(1));
  const auto across = granted(milliseconds{200}, token(2));
  book.add(before);
  book.add(ended(before, milliseconds{150}));
  book.add(across);
  book.add(ended(across, milliseconds{600}));
  book.add(granted(milliseconds{300}, token(3)));
  audit_witness beside;
  beside.held["a"] = held_with(token(3));
  const auto all = book.records(milliseconds{500}, now, beside);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].token.value(), token(2));
  EXPECT_EQ(all[1].how, grant_end::held);
}

TEST(AuditBook, CountsWhatClientsDropped) {
  audit_book book("a");
  auto dropped = granted(milliseconds{100}, 7);
  dropped.what = trail_event::missed;
  dropped.name.clear();
  book.add(dropped);
  dropped.at = dropped.granted += milliseconds{1};  // sent again: times are not exact
  book.add(dropped);
  EXPECT_EQ(book.missed(milliseconds{100}), 7U);
  EXPECT_EQ(book.missed(milliseconds{101}), 0U);
}

}  // namespace
}  // namespace holdfast::inspection
