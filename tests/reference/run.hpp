// One seeded run of one kind: its choices, what it did, and how it says that a promise was broken.
#pragma once

#include <cstdint>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/inspector.hpp>

#include "base/time.hpp"
#include "support/eventually.hpp"
#include "support/private_server.hpp"

namespace holdfast::reference {

// What a document says, word for word, and where.
struct sentence {
  std::string_view page;
  std::string_view text;
};

// A promise was broken. what() has the sentence and what was seen instead.
class disagreement : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A server, and the clients that all runs on it share.
class world {
 public:
  explicit world(const support::private_server& server, std::size_t clients = 5);

  const client& of(std::size_t which) const { return clients_.at(which); }
  std::size_t clients() const { return clients_.size(); }
  const inspector& looks() const { return looks_; }
  const support::private_server& server() const { return server_; }

 private:
  const support::private_server& server_;
  std::vector<client> clients_;
  inspector looks_;
};

// Thread safety: did() and disagree() from any thread, the choices from the thread of the run.
class run {
 public:
  run(world& where, std::string kind, std::uint64_t seed);

  std::uint64_t below(std::uint64_t bound) { return choices_() % bound; }
  bool chance(std::uint64_t percent) { return below(100) < percent; }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most - least) + 1));
  }
  template <typename T>
  const T& one_of(const std::vector<T>& all) {
    return all[below(all.size())];
  }

  const world& on() const { return where_; }
  world& world_of() { return where_; }
  const client& of(std::size_t which) const { return where_.of(which); }
  std::string fresh_name();

  void did(const std::string& what);
  void noted(const std::string& what);  // no operation, but worth knowing
  [[noreturn]] void disagree(const sentence& promised, const std::string& seen);
  void expect(bool kept, const sentence& promised, const std::string& seen) {
    if (!kept) disagree(promised, seen);
  }
  // Soon `differs` must return an empty text; what it returns last is what was seen.
  template <typename Differs>
  void expect_soon(const sentence& promised, Differs differs) {
    std::string seen;
    const bool kept = support::eventually(
        [&] {
          seen = differs();
          return seen.empty();
        },
        milliseconds{8'000});
    expect(kept, promised, seen);
  }

  std::string story() const;
  std::size_t operations() const { return operations_; }
  const std::string& kind() const { return kind_; }
  std::uint64_t seed() const { return seed_; }

 private:
  world& where_;
  std::string kind_;
  std::uint64_t seed_;
  std::mt19937_64 choices_;
  monotonic_time began_;
  std::uint64_t names_ = 0;
  std::size_t operations_ = 0;
  mutable std::mutex guard_;
  std::vector<std::string> story_;
};

// The name of an error; "ok" of a success.
template <typename T>
std::string outcome_of(const result<T>& what) {
  return what ? "ok" : name_of(what.error().reason());
}

// What a call that throws gives: "ok", the error, or what else was thrown.
template <typename Call>
std::string outcome_of_call(Call&& call) {
  try {
    call();
    return "ok";
  } catch (const failure& what) {
    return name_of(what.reason());
  } catch (const std::exception& what) {
    return std::string("exception: ") + what.what();
  }
}

std::int64_t in_ms(nanoseconds time);

}  // namespace holdfast::reference
