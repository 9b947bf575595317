// One pipelined connection that many threads share, and whose reading thread changes with the load.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.hpp"
#include "net/background_thread.hpp"
#include "redis/link.hpp"
#include "redis/locator.hpp"
#include "redis/request.hpp"
#include "redis/session.hpp"
#include "resp/loaded_scripts.hpp"

namespace holdfast::redis {

// The figures behind these are in bench/README.md.
struct connection_tuning {
  microseconds spin{50};  // the only thread that waits looks this long before it sleeps
  std::size_t crowd = 4;  // from this many commands in flight the background thread reads
  std::size_t crowd_on_one_core = 24;  // the same while the server has the core that we have
  std::size_t calm = 16;  // after so many batches of answers without a crowd, callers read again
  microseconds background_spin{20};  // how long that one looks before it sleeps
  microseconds push_spin{300};       // how long either looks for a push that is expected
  microseconds grace{1000};          // replies that nobody waits for may lie this long
  microseconds patience{10'000};     // and these, when it is known that nobody does; and what a
                                     // coroutine asks for, while its thread computes
  milliseconds ping_after{15'000};   // of silence
};

// Who reads the socket is a role that one thread has at a time:
//   caller       a thread that waits for its own answer reads for everybody (leader), and when it
//                has its answer offers the role to one of those that sleep (followers);
//   background   the background thread: when a crowd is in flight, or when nobody waits;
//   none         nothing is expected, or its answers may lie for a while; should the server close
//                it, the background thread takes the role.
// What the role guards (link_) needs no lock. Everything else is under mutex_, which is never held
// while calling a request, except for request::write.
//
// Thread safety: submit, drive and forget from any thread. The observer is called on the connecting
// or the reading thread, with no lock held.
class connection final : public net::attendant {
 public:
  class observer {
   public:
    virtual void on_connected(const session_facts& facts) = 0;  // before anything is sent
    virtual void on_push(resp::value& message, std::uint64_t position) = 0;
    virtual void on_broken() = 0;  // what was pushed since is lost
    // Whether to connect again although nothing is to be sent. Must not block or call back.
    virtual bool needs_connection() { return false; }
    // Whether nothing will be asked here that could not be asked elsewhere: then the connection is
    // closed where it would be pinged. As above.
    virtual bool is_dispensable() { return false; }
    virtual void on_not_connected() {}
    // The answer to a request is an error. True: it has been submitted elsewhere instead of being
    // answered. `error` may be changed.
    virtual bool on_error(request&, std::string& /*error*/) { return false; }

   protected:
    ~observer() = default;
  };

  using delivery = redis::delivery;

  // `positions`: what connections count together whose answers are compared; null: it is the only
  // one.
  connection(session_settings settings, connection_tuning tuning, net::background_thread& helper,
             observer& watching, std::atomic<std::uint64_t>* positions = nullptr);
  ~connection();

  // Cannot fail: what there is no memory to write down now, the background thread sends.
  void submit(request& r, delivery how) noexcept HOLDFAST_EXCLUDES(mutex_);
  // No other command comes between the two.
  void submit(request& first, request& second, delivery how) noexcept HOLDFAST_EXCLUDES(mutex_);

  // Takes the memory that the calling thread needs in drive(): before anything is asked, since a
  // thread that cannot wait for its answer must not go away either.
  static void prepare_to_drive();

  // Lends the calling thread until `w`, whose home this is, is done: it sends, reads for everybody,
  // or sleeps. If the thread is cancelled meanwhile, it ends after that. An exception of whatever
  // hears an answer here ends the process: others wait for this thread.
  void drive(waiter& w) noexcept HOLDFAST_EXCLUDES(mutex_);

  // The waiter goes away although commands that name it may still be in flight.
  void forget(const waiter& w) HOLDFAST_EXCLUDES(mutex_);

  // From `listen` to `unlisten` somebody reads the connection also when nothing is in flight, since
  // a push may come. `who` is the thread that waits for it, in drive(); null: none does.
  void listen(waiter* who) HOLDFAST_EXCLUDES(mutex_);
  void unlisten(const waiter* who) HOLDFAST_EXCLUDES(mutex_);

  // The caller looks elsewhere for what it has `watched` so far: the answer may lie for `grace`.
  void look_soon() HOLDFAST_EXCLUDES(mutex_);
  // The caller does not wait any more for what it has `watched` so far: it may lie for `patience`.
  void let_lie() HOLDFAST_EXCLUDES(mutex_);

  // A push will come very soon: whoever reads looks for it for a while before he sleeps.
  void expect_push() noexcept;

  // The server is not the one to ask any more, but `address` is (empty: whichever the sentinels
  // name, or the name in the URL leads to): connects there, unless that is where we are.
  void leave_for(const std::string& address) HOLDFAST_EXCLUDES(mutex_);
  bool is_up() HOLDFAST_EXCLUDES(mutex_);

  // Ends everything; what is still in flight fails. After the background thread has stopped and
  // when no other thread uses the connection any more.
  void shut_down() HOLDFAST_EXCLUDES(mutex_);

  const session_settings& settings() const noexcept { return settings_; }

  // Of net::attendant, on the background thread.
  interest wants(monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);
  void attend(short events, monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);

 private:
  enum class role : std::uint8_t { none, caller, background };
  // A thread's own buffers, so that it can hand out answers after it has passed the role on.
  struct turn {
    reply_batch batch;
    request_queue answered;
    std::size_t answers = 0;     // how many those were
    std::uint64_t position = 0;  // of the first of the batch
  };
  class ping_request;

  // Sending.
  delivery reachable(request& r, delivery how) HOLDFAST_REQUIRES(mutex_);
  void submit(request& first, request* second, delivery how) noexcept HOLDFAST_EXCLUDES(mutex_);
  void write_down(request& r, monotonic_time now) HOLDFAST_REQUIRES(mutex_);
  void await(request& r) noexcept HOLDFAST_REQUIRES(mutex_);
  void enqueue(request& r, monotonic_time now) HOLDFAST_REQUIRES(mutex_);
  bool try_enqueue(request& first, request* second) noexcept HOLDFAST_REQUIRES(mutex_);
  void enqueue_pending(monotonic_time now) HOLDFAST_REQUIRES(mutex_);
  bool flush() HOLDFAST_REQUIRES(mutex_);
  bool keep_unsent() HOLDFAST_REQUIRES(mutex_);
  bool attract_reader(delivery how) HOLDFAST_REQUIRES(mutex_);
  void look_within(microseconds time) HOLDFAST_REQUIRES(mutex_);
  std::optional<microseconds> may_all_lie() const HOLDFAST_REQUIRES(mutex_);

  // Reading (connection_reading.cpp).
  bool take_role(waiter& w) HOLDFAST_REQUIRES(mutex_);
  bool nobody_listens() const HOLDFAST_REQUIRES(mutex_);
  bool nothing_to_read() const HOLDFAST_REQUIRES(mutex_);
  bool one_waits() const HOLDFAST_REQUIRES(mutex_);
  bool offer_to_listener(const waiter* leader) HOLDFAST_REQUIRES(mutex_);
  bool offer_to_newest(const waiter* leader) HOLDFAST_REQUIRES(mutex_);
  bool offer_to_callers(const waiter* leader) HOLDFAST_REQUIRES(mutex_);
  bool pass_role(const waiter& leader, std::size_t answered) HOLDFAST_REQUIRES(mutex_);
  bool leave_to_callers(std::size_t answered, bool answers_thread) HOLDFAST_REQUIRES(mutex_);
  void lead(waiter& w) HOLDFAST_EXCLUDES(mutex_);
  monotonic_time spin_end(const waiter* w) const noexcept;
  link::outcome await_data(waiter& w, reply_batch& batch);
  void poll_socket(waiter& w);
  bool process(turn& mine, const waiter* leader, link::outcome how) HOLDFAST_EXCLUDES(mutex_);
  void dispatch(turn& mine) HOLDFAST_EXCLUDES(mutex_);
  bool sent_again(request& r, std::string& error) HOLDFAST_EXCLUDES(mutex_);
  std::size_t crowd() const noexcept;
  bool is_crowded(std::size_t answered) const HOLDFAST_REQUIRES(mutex_);
  bool is_calm(std::size_t answered) const HOLDFAST_REQUIRES(mutex_);
  void note_due() HOLDFAST_REQUIRES(mutex_);
  void look_who_waits(const waiter* leader) HOLDFAST_REQUIRES(mutex_);
  bool tear_down_if_overdue() HOLDFAST_EXCLUDES(mutex_);
  void tear_down(const breakdown& why) HOLDFAST_EXCLUDES(mutex_);
  breakdown why_closed() const;
  static turn& my_turn();

  // Looking after it (connection_upkeep.cpp).
  void read_in_background(microseconds spin) HOLDFAST_EXCLUDES(mutex_);
  bool stop_reading(bool heard) HOLDFAST_REQUIRES(mutex_);
  void ping_if_silent(monotonic_time now) HOLDFAST_REQUIRES(mutex_);
  void hang_up() HOLDFAST_REQUIRES(mutex_);
  void leave_if_demoted(const resp::value& said) HOLDFAST_EXCLUDES(mutex_);
  void leave_demoted() HOLDFAST_EXCLUDES(mutex_);
  bool is_wanted() const HOLDFAST_REQUIRES(mutex_);
  void start_connecting() HOLDFAST_EXCLUDES(mutex_);
  void connect() HOLDFAST_EXCLUDES(mutex_);
  std::optional<breakdown> open(link& made, session_facts& facts) HOLDFAST_EXCLUDES(mutex_);
  void connected(link& made, const std::string& address) HOLDFAST_EXCLUDES(mutex_);
  void not_connected(const breakdown& why) HOLDFAST_EXCLUDES(mutex_);
  void schedule_attempt() HOLDFAST_REQUIRES(mutex_);
  static void fail(request_queue& all, fate what, const breakdown& why);
  request_queue take_all() HOLDFAST_EXCLUDES(mutex_);

  // Constant after construction, or safe by itself.
  const session_settings settings_;
  const connection_tuning tuning_;
  net::background_thread& helper_;
  observer& observer_;
  std::atomic<std::uint64_t>* const positions_;
  net::wake_up interrupt_;  // ends the leader's poll

  locator locator_;

  // Belongs to whoever has the role.
  link link_;
  monotonic_time due_ = monotonic_time::max();  // when the oldest command must be answered
  bool alone_ = false;          // the leader waits for the last answer, and nobody for another one
  bool takes_turns_ = false;    // the server has the core that we have
  std::uint64_t received_ = 0;  // answers and pushes, also of earlier links

  std::atomic<monotonic_time::rep> push_due_{0};  // until when a push is expected

  mutex mutex_;
  bool up_ HOLDFAST_GUARDED_BY(mutex_) = false;
  bool end_is_seen_ HOLDFAST_GUARDED_BY(mutex_) = false;  // by poll(): the server has closed it
  std::string address_ HOLDFAST_GUARDED_BY(mutex_);       // of the server, when up
  bool connecting_ HOLDFAST_GUARDED_BY(mutex_) = false;
  std::string elsewhere_ HOLDFAST_GUARDED_BY(mutex_);  // leave_for() said since; empty: nothing
  bool ever_reached_ HOLDFAST_GUARDED_BY(mutex_);
  bool closed_ HOLDFAST_GUARDED_BY(mutex_) = false;
  role role_ HOLDFAST_GUARDED_BY(mutex_) = role::none;
  waiter* claimant_ HOLDFAST_GUARDED_BY(mutex_) = nullptr;  // an executor that wants to read again
  std::vector<waiter*> listeners_ HOLDFAST_GUARDED_BY(mutex_);  // threads, the oldest first
  std::size_t other_listeners_ HOLDFAST_GUARDED_BY(mutex_) = 0;
  request_queue in_flight_ HOLDFAST_GUARDED_BY(mutex_);
  request_queue pending_ HOLDFAST_GUARDED_BY(mutex_);  // waits for the connection, or for memory
  resp::loaded_scripts scripts_ HOLDFAST_GUARDED_BY(mutex_);
  std::string out_ HOLDFAST_GUARDED_BY(mutex_);         // encoded, not yet taken by a writer
  std::size_t unsent_ HOLDFAST_GUARDED_BY(mutex_) = 0;  // commands in out_
  bool writing_ HOLDFAST_GUARDED_BY(mutex_) = false;    // a thread sends `sending_`
  bool blocked_ HOLDFAST_GUARDED_BY(mutex_) = false;    // the socket takes no more for now
  std::string sending_;                                 // belongs to whoever set writing_
  std::size_t sent_ = 0;
  std::size_t calm_ HOLDFAST_GUARDED_BY(mutex_) = 0;        // batches since the last crowd
  std::uint64_t progress_ HOLDFAST_GUARDED_BY(mutex_) = 0;  // counts batches of answers
  std::uint64_t progress_seen_ HOLDFAST_GUARDED_BY(mutex_) = 0;
  monotonic_time look_at_ HOLDFAST_GUARDED_BY(mutex_) = monotonic_time::max();
  monotonic_time attempt_at_ HOLDFAST_GUARDED_BY(mutex_){};
  milliseconds attempt_delay_ HOLDFAST_GUARDED_BY(mutex_){0};
  monotonic_time up_since_ HOLDFAST_GUARDED_BY(mutex_){};
  monotonic_time ping_at_ HOLDFAST_GUARDED_BY(mutex_) = monotonic_time::max();
  std::uint64_t progress_at_ping_ HOLDFAST_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<ping_request> ping_;
  std::thread connector_;  // started by the background thread only
};

}  // namespace holdfast::redis
