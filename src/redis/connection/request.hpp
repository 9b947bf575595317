// One command under way: its words, the thread that waits for it, and how its answer is known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/no_answer.hpp"
#include "base/time.hpp"
#include "net/waiter.hpp"
#include "redis/connection/breakdown.hpp"
#include "redis/resp/value.hpp"
#include "redis/resp/writer.hpp"

namespace holdfast::redis {

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

  // An answer before the last one, where there are several (answered_by). Under the connection's
  // mutex: it must not block or call back.
  virtual void on_first_answer(const resp::value& /*said*/) noexcept {}

  // There is no answer. On the background thread or the one that noticed, with no lock held.
  virtual void on_failed(no_answer what, const breakdown& why) = 0;

  monotonic_time sent_at() const noexcept { return sent_at_; }

  // Of the answer, in on_reply: answers and pushes of a connection are counted, in the order in
  // which the server sent them. On several threads they may be heard in another order.
  std::uint64_t position() const noexcept { return position_; }

  // The thread that waits for this command, if one does: its home may ask it to read.
  void set_sleeper(net::waiter* sleeper) noexcept { sleeper_ = sleeper; }

  // How often it was sent on to another server since it was last answered, with this time.
  int count_redirection() noexcept { return ++redirections_; }

  // The rest is for the connection that it was submitted to.

  net::waiter* sleeper() const noexcept { return sleeper_; }
  delivery how() const noexcept { return how_; }
  void set_how(delivery how) noexcept { how_ = how; }

  void write_down(std::string& out, resp::loaded_scripts& scripts, monotonic_time now) {
    sent_at_ = now;
    resp::writer to(out, form_, &scripts);
    write(to, now);
  }

  bool is_answered_by(const resp::value& said) const noexcept {
    if (answered_by_ == answered_by::time) return said.is(resp::type::array);
    if (answered_by_ == answered_by::time_after_login) return is_answer_to_time(said);
    if (!said.is(resp::type::push)) return true;
    return !said.items.empty() && said.items.front().text == message();
  }

  // Whether it may come before the answer.
  bool is_preceded_by(const resp::value& said) const noexcept {
    if (said.is(resp::type::push)) return true;
    if (answered_by_ == answered_by::time_after_login)
      return said.is(resp::type::simple) || said.is(resp::type::error);
    return answered_by_ == answered_by::time && said.is(resp::type::error) &&
           refuses_parting_only(said.text);
  }

  void arrived(std::uint64_t position) noexcept { position_ = position; }

  // The server has forgotten the script (or never had it): from now on its text is sent.
  bool needs_text_after(std::string_view error) noexcept {
    if (form_ != resp::writer::scripts::by_sha1 || !error.starts_with("NOSCRIPT")) return false;
    form_ = resp::writer::scripts::by_text;
    return true;
  }

  // Afterwards it may be gone, or submitted again.
  void conclude(resp::value& reply) {
    start_anew();
    on_reply(reply);
  }
  void conclude(no_answer what, const breakdown& why) {
    start_anew();
    on_failed(what, why);
  }

 protected:
  // Of what was sent within another request.
  void take_from(const request& outer) noexcept {
    sent_at_ = outer.sent_at_;
    position_ = outer.position_;
  }

  // Answered by a message, unless it is refused: (S)SUBSCRIBE and UNSUBSCRIBE of one channel. Where
  // the server may also say the same by itself, or refuse it with an error, a TIME goes behind it,
  // whose answer counts: SUNSUBSCRIBE of a channel whose slot may be moved. So it does behind AUTH:
  // Redis from 7.2 on and Valkey say nothing of an AUTH that they refuse while answers or messages
  // before it wait to be sent. Later answers would be taken for others.
  enum class answered_by : std::uint8_t {
    reply,
    subscribe,
    unsubscribe,
    ssubscribe,
    time,
    time_after_login,
  };
  explicit request(answered_by how = answered_by::reply) noexcept : answered_by_(how) {}
  virtual ~request() = default;
  request(const request&) = delete;
  request& operator=(const request&) = delete;

 private:
  friend class request_queue;

  void start_anew() noexcept {
    form_ = resp::writer::scripts::by_sha1;
    redirections_ = 0;
  }

  // A refusal of SUNSUBSCRIBE which TIME cannot meet with. Of another one nobody could say which of
  // the two it means.
  static bool refuses_parting_only(std::string_view error) noexcept {
    if (error.starts_with("NOPERM")) return error.find("'time'") == std::string_view::npos;
    return error.starts_with("MOVED") || error.starts_with("CLUSTERDOWN") ||
           error.starts_with("ERR unknown command");
  }

  // An error that AUTH cannot meet with is that of TIME.
  static bool is_answer_to_time(const resp::value& said) noexcept {
    if (said.is(resp::type::array)) return true;
    if (!said.is(resp::type::error)) return false;
    return said.text.starts_with("NOAUTH") || said.text.starts_with("BUSY") ||
           (said.text.starts_with("NOPERM") && said.text.find("'time'") != std::string::npos);
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
      case answered_by::time_after_login:
        break;
    }
    return "no message";
  }

  request* next_ = nullptr;
  net::waiter* sleeper_ = nullptr;
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

}  // namespace holdfast::redis
