// Requests that wait for their answers, in the order in which the answers come.
#pragma once

#include <cstddef>

#include "net/waiter.hpp"
#include "redis/connection/breakdown.hpp"
#include "redis/connection/request.hpp"

namespace holdfast::redis {

// First in, first out; links the requests themselves, allocates nothing.
class request_queue {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  std::size_t size() const noexcept { return size_; }
  // Of them those for which a thread waits.
  std::size_t awaited() const noexcept { return awaited_; }
  request* first() const noexcept { return first_; }
  request* last() const noexcept { return last_; }
  static const request* after(const request& r) noexcept { return r.next_; }

  // Whether a thread waits for the last answer, and none for another one.
  bool awaits_only_the_last() const noexcept { return awaited_ == 1 && last_->sleeper_ != nullptr; }

  // From now on what is watched must be looked for so soon.
  void hurry_watched(delivery how) noexcept {
    for (request* r = first_; r != nullptr; r = r->next_) {
      if (r->how_ == delivery::watched) r->how_ = how;
    }
  }

  void push(request& r) noexcept {
    r.next_ = nullptr;
    (first_ == nullptr ? first_ : last_->next_) = &r;
    last_ = &r;
    ++size_;
    if (r.sleeper_ == nullptr) return;
    r.next_awaited_ = nullptr;
    (first_awaited_ == nullptr ? first_awaited_ : last_awaited_->next_awaited_) = &r;
    last_awaited_ = &r;
    ++awaited_;
  }

  request* pop() noexcept {
    request* r = first_;
    first_ = r->next_;
    if (first_ == nullptr) last_ = nullptr;
    --size_;
    if (r == first_awaited_) {
      first_awaited_ = r->next_awaited_;
      --awaited_;
    }
    return r;
  }

  // Takes time for what threads wait for, not for all that was given up and is still unanswered.
  void forget(const net::waiter& leaving) noexcept {
    request* before = nullptr;
    for (request* r = first_awaited_; r != nullptr; r = r->next_awaited_) {
      if (r->sleeper_ != &leaving) {
        before = r;
        continue;
      }
      r->sleeper_ = nullptr;
      r->how_ = delivery::lazy;
      (before == nullptr ? first_awaited_ : before->next_awaited_) = r->next_awaited_;
      if (last_awaited_ == r) last_awaited_ = before;
      --awaited_;
    }
  }

  request_queue take() noexcept {
    request_queue all = *this;
    *this = request_queue{};
    return all;
  }

  void append(request_queue others) noexcept {
    while (!others.empty()) push(*others.pop());
  }

  // Tells all that there is no answer. Each may be gone, or submitted again, when it was told.
  void conclude(no_answer what, const breakdown& why) {
    while (!empty()) pop()->conclude(what, why);
  }

 private:
  request* first_ = nullptr;
  request* last_ = nullptr;
  request* first_awaited_ = nullptr;  // those with a thread that waits, in the same order
  request* last_awaited_ = nullptr;
  std::size_t size_ = 0;
  std::size_t awaited_ = 0;
};

}  // namespace holdfast::redis
