// One command under way, and the queue of those that wait for their answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/errc.hpp>

#include "base/time.hpp"
#include "net/socket.hpp"
#include "redis/waiter.hpp"
#include "resp/value.hpp"
#include "resp/writer.hpp"

namespace holdfast::redis {

// What is known about a command without an answer.
enum class fate : std::uint8_t {
  not_sent,     // it never left this process
  unreachable,  // the same, and this client has never reached the server at all
  unknown,      // it may or may not have been executed
};

// Why a connection could not be made or broke.
struct breakdown {
  errc code = errc::unavailable;
  std::string detail;
  bool reached = true;  // false: no connection could be made at all
  // There somebody hung up at what is not TLS: it may be what is spoken there.
  std::optional<net::endpoint> may_speak_tls{};

  // Asking again is pointless until somebody changes the configuration.
  bool is_permanent() const noexcept {
    return code == errc::authentication || code == errc::permission_denied ||
           code == errc::not_redis || code == errc::untrusted_server;
  }
};

// Without its text, where there is no memory for that.
inline breakdown copy(const breakdown& why) noexcept {
  try {
    return why;
  } catch (const std::bad_alloc&) {
    return {.code = why.code, .detail = {}, .reached = why.reached};
  }
}

// How soon somebody must look for the answer.
enum class delivery : std::uint8_t {
  driven,   // nothing is sent yet: the caller will call connection::drive() at once
  watched,  // sent now; the caller must look for the answer in drive(), or call look_soon() or
            // let_lie(): otherwise it may lie for half the response_timeout
  lazy,     // sent now; the answer may lie for connection_tuning::grace
  prompt,   // sent now; the background thread reads if nobody else does
};

// One command that is under way. Its owner keeps it alive until on_reply or on_failed was called;
// after that the connection does not touch it again.
class request {
 public:
  // Appends the command. Called once for each time it is sent, under the connection's mutex, maybe
  // on another thread: it must not block or call back, and what it reads must not change meanwhile.
  // `sent_at` is now.
  virtual void write(resp::writer& out, monotonic_time sent_at) = 0;

  // The answer, on the thread that read it, with no lock held. `sent_at`: before it was sent.
  virtual void on_reply(resp::value& reply) = 0;

  // There is no answer. On the background thread or the one that noticed, with no lock held.
  virtual void on_failed(fate what, const breakdown& why) = 0;

  monotonic_time sent_at() const noexcept { return sent_at_; }

  // Of the answer, in on_reply: answers and pushes of a connection are counted, in the order in
  // which the server sent them. On several threads they may be heard in another order.
  std::uint64_t position() const noexcept { return position_; }

  // The thread that waits for this command, if one does: its home may ask it to read.
  void set_sleeper(waiter* sleeper) noexcept { sleeper_ = sleeper; }

  // How often it was sent on to another server since it was last answered, with this time.
  int count_redirection() noexcept { return ++redirections_; }

 protected:
  // Of what was sent within another request.
  void take_from(const request& outer) noexcept {
    sent_at_ = outer.sent_at_;
    position_ = outer.position_;
  }

  // Answered by a message, unless it is refused: (S)SUBSCRIBE and UNSUBSCRIBE of one channel. Where
  // the server may also say the same by itself, or refuse it with an error, a TIME goes behind it,
  // whose answer counts: SUNSUBSCRIBE of a channel whose slot may be moved.
  enum class answered_by : std::uint8_t { reply, subscribe, unsubscribe, ssubscribe, time };
  explicit request(answered_by how = answered_by::reply) noexcept : answered_by_(how) {}
  virtual ~request() = default;
  request(const request&) = delete;
  request& operator=(const request&) = delete;

 private:
  friend class connection;
  friend class request_queue;

  bool is_answered_by(const resp::value& said) const noexcept {
    if (answered_by_ == answered_by::time) return said.is(resp::type::array);
    if (!said.is(resp::type::push)) return true;
    return !said.items.empty() && said.items.front().text == message();
  }

  // Whether it may come before the answer.
  bool is_preceded_by(const resp::value& said) const noexcept {
    if (said.is(resp::type::push)) return true;
    return answered_by_ == answered_by::time && said.is(resp::type::error) &&
           refuses_parting_only(said.text);
  }

  // A refusal of SUNSUBSCRIBE which TIME cannot meet with. Of another one nobody could say which of
  // the two it means.
  static bool refuses_parting_only(std::string_view error) noexcept {
    if (error.starts_with("NOPERM")) return error.find("'time'") == std::string_view::npos;
    return error.starts_with("MOVED") || error.starts_with("CLUSTERDOWN") ||
           error.starts_with("ERR unknown command");
  }

  // The first word of the message that answers it; of none, a word that no message has.
  std::string_view message() const noexcept {
    switch (answered_by_) {
      case answered_by::subscribe:
        return "subscribe";
      case answered_by::unsubscribe:
        return "unsubscribe";
      case answered_by::ssubscribe:
        return "ssubscribe";
      case answered_by::reply:
      case answered_by::time:
        break;
    }
    return "no message";
  }

  request* next_ = nullptr;
  waiter* sleeper_ = nullptr;
  monotonic_time sent_at_{};
  union {                              // one after the other: every held lock has such an object
    request* next_awaited_ = nullptr;  // in the queue
    std::uint64_t position_;           // of the answer
  };
  resp::writer::scripts form_ = resp::writer::scripts::by_sha1;
  const answered_by answered_by_;
  std::uint8_t redirections_ = 0;  // since it was last answered
  delivery how_ = delivery::prompt;
};

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
  void forget(const waiter& leaving) noexcept {
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

 private:
  request* first_ = nullptr;
  request* last_ = nullptr;
  request* first_awaited_ = nullptr;  // those with a thread that waits, in the same order
  request* last_awaited_ = nullptr;
  std::size_t size_ = 0;
  std::size_t awaited_ = 0;
};

}  // namespace holdfast::redis
