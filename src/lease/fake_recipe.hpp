// For the unit tests of this room: a recipe whose replies are a word and a number.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include <holdfast/errc.hpp>

#include "dialects/recipe.hpp"

namespace holdfast::leasing {

// A reply for `fake_recipe`, e.g. say("busy", 250). The words are in read_acquire and read_release.
inline resp::value say(std::string word, std::int64_t number = 0) {
  return {.kind = resp::type::bulk, .number = number, .text = std::move(word), .items = {}};
}
inline resp::value say(std::string word, errc code) {
  return say(std::move(word), static_cast<std::int64_t>(code));
}
// A grant with a certain token; say("granted", ttl) has the token `fake_recipe::major`.
inline resp::value say_granted(milliseconds ttl, dialects::token_major major) {
  resp::value reply = say("granted with token", ttl.count());
  reply.items.push_back(say("", static_cast<std::int64_t>(major)));
  return reply;
}

inline resp::value say_queued(std::int64_t place, milliseconds remaining, bool is_new = false) {
  resp::value reply = say("queued", place);
  reply.items.push_back(say("", remaining.count()));
  if (is_new) reply.items.push_back(say("new"));
  return reply;
}

class fake_recipe final : public dialects::recipe {
 public:
  static constexpr dialects::token_major major = 7;
  static constexpr std::uint64_t ticket = 70;

  void write_acquire(const dialects::claim&, bool resend, server_time not_after,
                     resp::writer& out) const override {
    out.command(2);
    out.arg(resend ? "acquire again" : "acquire");
    out.arg(static_cast<std::int64_t>(not_after.time_since_epoch().count()));
  }

  dialects::acquire_verdict read_acquire(const dialects::claim&,
                                         const resp::value& reply) const override {
    const std::string_view word = reply.text;
    const milliseconds time{reply.number};
    if (word == "granted") return dialects::granted{major, time};
    if (word == "granted with token") {
      return dialects::granted{static_cast<dialects::token_major>(reply.items[0].number), time};
    }
    if (word == "busy") return dialects::busy{};
    if (word == "busy for") return dialects::busy{time};
    if (word == "queued") {
      return dialects::queued{static_cast<std::uint64_t>(reply.number),
                              milliseconds(reply.items[0].number), ticket,
                              server_time{std::chrono::hours(400'000)}, reply.items.size() > 1};
    }
    if (word == "more") return dialects::unfinished{};
    if (word == "late") return dialects::late{server_time(microseconds(reply.number))};
    return refusal(reply);
  }

  void write_renew(std::span<const dialects::claim* const>, server_time,
                   resp::writer&) const override {}
  dialects::renew_verdict read_renew(const resp::value&, std::size_t) const override {
    return dialects::not_mine{};
  }

  void write_release(const dialects::claim& mine, resp::writer& out) const override {
    out.command(2);
    out.arg("release");
    out.arg(static_cast<std::int64_t>(mine.granted));
  }
  void write_lone_release(const dialects::claim& mine, resp::writer& out) const override {
    out.command(2);
    out.arg("lone release");
    out.arg(static_cast<std::int64_t>(mine.granted));
  }
  void write_withdraw(const dialects::claim&, resp::writer& out) const override {
    out.command(1);
    out.arg("withdraw");
  }
  dialects::release_verdict read_release(const resp::value& reply) const override {
    if (reply.text == "released") return dialects::released{};
    if (reply.text == "more") return dialects::unfinished{};
    if (reply.text == "not mine") return dialects::not_mine{};
    if (reply.text == "not undone") return dialects::not_undone{};
    return refusal(reply);
  }

 private:
  static dialects::refused refusal(const resp::value& reply) {
    const bool divided = reply.text == "divided";
    return {static_cast<errc>(reply.number), divided || reply.text == "passing",
            "the server said so", divided};
  }
};

inline dialects::claim test_claim(milliseconds lease = milliseconds(10'000)) {
  return {.key = nullptr,
          .owner = request_id(client_id({1, 2, 3}), 1),
          .lease = lease,
          .floor = 0,
          .granted = 0};
}

// The same, for a machine: it lives as long as the test program.
inline dialects::claim& new_claim(const dialects::claim& like = test_claim()) {
  static std::deque<dialects::claim> all;
  return all.emplace_back(like);
}

// Time zero of the tests on both lines.
inline constexpr monotonic_time local_start{std::chrono::hours(1)};
inline constexpr server_time server_start{std::chrono::hours(400'000)};

}  // namespace holdfast::leasing
