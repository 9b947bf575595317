#include "redis/locks/observed_keys.hpp"

#include <algorithm>
#include <utility>

#include "base/lock_key.hpp"
#include "base/uncancelled.hpp"
#include "net/clock.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {

// Calls the listener on the callback thread.
class observed_key::notice final : public detail::completion {
 public:
  explicit notice(std::shared_ptr<observed_key> of) : of_(std::move(of)) {}
  void complete() noexcept override {
    const std::unique_ptr<notice> self(this);
    of_->tell();
  }

 private:
  std::shared_ptr<observed_key> of_;
};

void observed_key::command::write(resp::writer& out, monotonic_time) {
  switch (what_) {
    case kind::track:
      out.command(4);
      for (const auto* word : {"CLIENT", "TRACKING", "ON", "OPTIN"}) out.arg(word);
      return;
    case kind::cache:
      out.command(3);
      for (const auto* word : {"CLIENT", "CACHING", "YES"}) out.arg(word);
      return;
    case kind::get:
      out.command(2);
      out.arg("GET");
      out.arg(of_.key_);
      return;
  }
}

observed_key::observed_key(redis_engine& owner, std::string key, teller tell)
    : engine_(owner), key_(std::move(key)), slot_(hash_slot(key_)), tell_(std::move(tell)) {}

observed_key::~observed_key() {
  if (is_armed() && engine_.is_in_its_process()) engine_.timers().disarm(*this);
}

void observed_key::read() {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    if (unanswered_ > 0) {
      read_again_ = true;
      return;
    }
    unanswered_ = 1;
    self_ = shared_from_this();
  }
  send(false);
}

void observed_key::send(bool tracks) {
  bool hears = engine_.hears();
  auto& connection = engine_.connection(slot_);
  {
    const std::lock_guard lock(mutex_);
    hears = hears && !cannot_track_ && !stopped_;
    unanswered_ = !hears ? 1 : tracks ? 3 : 2;
    tracks_ = tracks;
    is_tracked_ = hears;
    read_again_ = failed_ = false;
    if (hears) listen(&connection);
  }
  using delivery = redis::connection::delivery;
  if (!hears) return connection.submit(get_, delivery::prompt);
  if (tracks) connection.submit(track_, delivery::lazy);
  connection.submit(cache_, get_, delivery::prompt);
}

// One connection at a time: the key may come to be another node's.
void observed_key::listen(redis::connection* to) {
  if (listens_ == to) return;
  if (listens_ != nullptr) listens_->unlisten(nullptr);
  if (to != nullptr) to->listen(nullptr);
  listens_ = to;
}

void observed_key::on_reply(command::kind what, resp::value& reply) {
  {
    const std::lock_guard lock(mutex_);
    const bool refused = reply.is(resp::type::error);
    if (what == command::kind::cache && refused) is_tracked_ = false;
    if (what == command::kind::get) {
      // A key that holds no text counts as empty.
      const bool unread = refused && !reply.text.starts_with("WRONGTYPE");
      failed_ = failed_ || unread;
      if (!unread) last_ = reply.is_text() ? value{std::move(reply.text)} : value{};
    }
  }
  answered();
}

void observed_key::on_failed() {
  {
    const std::lock_guard lock(mutex_);
    failed_ = true;
  }
  answered();
}

void observed_key::answered() {
  {
    const std::lock_guard lock(mutex_);
    if (--unanswered_ > 0) return;
    unanswered_ = 1;  // until it is decided what is next
  }
  on_read();
}

// A reading is over.
void observed_key::on_read() {
  const auto alive = shared_from_this();
  bool again = false, tracks = false, tells = false;
  {
    const std::lock_guard lock(mutex_);
    tells = !failed_ && !stopped_ && last_ != last_told_ && !std::exchange(notice_runs_, true);
    // It was off, as on every new connection. Why it is refused after that is of no matter.
    const bool is_off = !failed_ && !is_tracked_ && listens_ != nullptr;
    if (is_off && tracks_) cannot_track_ = true;
    tracks = is_off && !cannot_track_;
    again = !failed_ && !stopped_ && (tracks || read_again_);
    if (!again) {
      unanswered_ = 0;
      self_.reset();
      const auto pause = !failed_ && is_tracked_ ? reread_after : poll_after;
      if (!stopped_) engine_.timers().arm(*this, net::now() + pause);
    }
  }
  if (tells) engine_.callbacks().post(*new notice{alive});
  if (again) send(tracks);
}

void observed_key::tell() {
  std::unique_lock lock(mutex_);
  notice_runs_ = false;
  if (stopped_ || last_ == last_told_) return;
  last_told_ = last_;
  const value now = *last_;
  telling_ = true;
  lock.unlock();
  tell_(now);
  if (!engine_.is_in_its_process()) return;  // it has forked
  lock.lock();
  telling_ = false;
  told_.notify_all();
}

void observed_key::stop() {
  const uncancelled meanwhile;
  teller ended;  // its contents are destroyed on the caller's thread, when nothing is locked
  std::unique_lock lock(mutex_);
  stopped_ = true;
  listen(nullptr);
  engine_.timers().disarm(*this);
  if (telling_) {
    const callback_thread::wait turn(engine_.callbacks(), telling_);
    if (turn.may_wait()) told_.wait(lock, [this] { return !telling_; });
  }
  if (!telling_) ended = std::move(tell_);
}

std::shared_ptr<observed_key> observed_keys::observe(std::string key, observed_key::teller tell) {
  redis::connection::prepare_to_drive();  // from its first reading on nothing may throw
  auto made = std::make_shared<observed_key>(engine_, std::move(key), std::move(tell));
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(keys_, [](const auto& one) { return one.expired(); });
    keys_.push_back(made);
  }
  made->read();
  return made;
}

std::vector<std::shared_ptr<observed_key>> observed_keys::alive() {
  std::vector<std::shared_ptr<observed_key>> found;
  const std::lock_guard lock(mutex_);
  for (const auto& one : keys_) {
    if (auto key = one.lock()) found.push_back(std::move(key));
  }
  return found;
}

// ["invalidate", [key, ...]]; without keys when all were deleted.
void observed_keys::on_push(const resp::value& message) {
  if (message.items.size() != 2 || message.items[0].text != "invalidate") return;
  const auto& changed = message.items[1];
  for (const auto& one : alive()) {
    const bool is_meant =
        !changed.is(resp::type::array) ||
        std::ranges::any_of(changed.items, [&](const auto& k) { return k.text == one->key(); });
    if (is_meant) one->read();
  }
}

void observed_keys::on_broken(const slot_set& of) {
  for (const auto& one : alive()) {
    if (of[one->slot()]) one->read();
  }
}

}  // namespace holdfast::redis_locks
