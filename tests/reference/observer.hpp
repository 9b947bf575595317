// Samples what every lease of every client believes, from outside, and judges exclusion from that.
//
// It sees `lease` alone: held(), mode(), token(), remaining(). It never asks the server who the
// owner is.
//
// A round of samples reads every lease twice, one after another. A lease that ended is never held
// again, so whatever said "held" in both passes, and in the same mode, was believed at the moment
// between them: the verdict is certain, however slowly the thread runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/lease.hpp>

#include "base/time.hpp"
#include "reference/modes.hpp"
#include "reference/run.hpp"

namespace holdfast::reference {

// What is held of a lock; of a mutex EX.
struct want {
  mode in = mode::ex;
  std::uint32_t permits = 0;  // of a semaphore; zero: no semaphore
  friend bool operator==(const want&, const want&) = default;
};

std::string text_of(const want& what);

// What the observer is told about a lease: what was asked for, and when. Never what is so at the
// server.
struct claim {
  std::string lock;
  std::string family;  // kinds of different families never go together under one name
  want has{};
  bool ordered = true;          // S2 as of a mutex; false: only as of readers
  std::uint64_t same_hold = 0;  // leases with one number (not 0) are of one holder
  monotonic_time asked{};       // before the call that gave it
  std::string who;
};

// A lease under observation. The observer reads it beside its user; whatever needs the lease alone
// goes through alone().
class watched {
 public:
  watched(lease value, claim what)
      : what_(std::move(what)), token_(value.token()), lease_(std::move(value)) {}

  const claim& what() const { return what_; }
  fencing_token token() const { return token_; }
  const lease& look() const { return *lease_; }  // const members, by the thread of its user
  template <typename Use>
  auto alone(Use&& use) {
    const std::unique_lock lock(guard_);
    return use(*lease_);
  }
  void drop();  // destroys the lease
  // From here on its user does not count on it any more.
  void ends();

 private:
  friend class observer;
  const claim what_;
  const fencing_token token_;
  mutable std::shared_mutex guard_;
  std::optional<lease> lease_;
  std::int64_t none_left_since_ =
      0;  // held() was true without any time left; of the observer alone
  std::atomic<bool> given_up_{false};
  std::atomic<std::int64_t> ended_{0};  // when it certainly had ended (0: not yet), boot clock
};

class observer {
 public:
  explicit observer(run& of);
  ~observer();

  std::shared_ptr<watched> watch(lease value, claim what);
  // Throws what was seen so far.
  void check();
  std::uint64_t rounds() const { return rounds_; }
  // There may be so many permits from now on; the largest number counts, for what is in use stays.
  void allow(const std::string& lock, std::uint32_t permits);
  // The server's memory was changed by an operator: what was believed of this lock is excused.
  void excuse(const std::string& lock);

 private:
  struct sample {
    std::shared_ptr<watched> of;
    mode in{};  // as it says; of all_of, and of permits, as was asked for
  };
  void observe(const std::stop_token& stop);
  void look_around();
  void look_at(const std::shared_ptr<watched>& one, std::vector<sample>& held);
  void judge(const std::vector<sample>& together);
  void judge_pair(const sample& a, const sample& b);
  void judge_tokens(const watched& newest, const std::vector<std::shared_ptr<watched>>& others);
  void say(const sentence& promised, const std::string& seen);
  std::vector<std::shared_ptr<watched>> all() const;
  std::uint32_t most_permits(const std::string& lock) const;

  run& run_;
  mutable std::mutex guard_;
  std::vector<std::shared_ptr<watched>> all_;
  std::vector<std::string> excused_;
  std::map<std::string, std::uint32_t> permits_;
  std::optional<std::pair<sentence, std::string>> broken_;
  std::atomic<std::uint64_t> rounds_{0};
  std::jthread thread_;
};

}  // namespace holdfast::reference
