#include "redis/locks/waiting_room.hpp"

#include <algorithm>
#include <utility>

#include "net/clock.hpp"
#include "redis/dialects/catalog.hpp"
#include "redis/dialects/nothing.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/locks/redis_lock.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {
namespace {

// How long a grant may wait for a request that says it is here. Then it is for one that has left.
constexpr milliseconds patience{50};
// Further grants are not kept. A request that still comes finds out by asking, as when a message
// was lost. A grant for a request that has left ends with the provisional grant's time.
constexpr std::size_t most_unclaimed = 1000;

// On the client's own channel, or on that of one lock in a cluster.
bool is_message(std::string_view word) noexcept { return word == "message" || word == "smessage"; }

std::uint16_t slot_of(const dialects::handed_over& grant) {
  return hash_slot(encode_name(grant.name));
}

// A request that has passed a latch or a barrier holds nothing that others could have.
bool is_returned(const dialects::handed_over& grant) noexcept {
  const bool holds = grant.of == substrate::family::mutex || grant.of == substrate::family::several;
  // A withdraw that names no grant could, executed late, free a later grant of the same request.
  return holds && grant.major != 0;
}

// Passes on a grant that came for a request which has left. Owns itself until answered.
class return_to_sender final : public redis::request {
 public:
  return_to_sender(waiting_room& room, const key_space& space, const client_id& id,
                   const dialects::handed_over& what)
      : room_(room),
        key_(space, what.name),
        recipe_(what.of == substrate::family::several ? dialects::native_shared_lock()
                                                      : dialects::native_mutex(fencing::on)),
        claim_{.key = &key_,
               .owner = request_id{id, what.request, what.revocable},
               .granted = what.major} {}

  std::uint16_t slot() const noexcept { return key_.slot(); }

  // A request that has asked again meanwhile would lose a lock of which it is told that it has it.
  void write(resp::writer& out, monotonic_time) override {
    if (room_.knows(claim_.owner.counter())) return dialects::write_nothing(out);
    recipe_.write_withdraw(claim_, out);
  }
  void on_reply(resp::value&) override { delete this; }
  void on_failed(no_answer, const redis::breakdown&) override { delete this; }

 private:
  waiting_room& room_;
  const lock_key key_;
  const dialects::recipe& recipe_;
  const substrate::claim claim_;
};

}  // namespace

waiting_room::waiting_room(redis_engine& owner, const client_id& id) : engine_(owner), id_(id) {}

std::optional<line_message> waiting_room::enter(std::uint64_t request,
                                                std::shared_ptr<redis_lock> who) {
  const scoped_mutex lock(mutex_);
  waiting_.insert_or_assign(request, std::move(who));
  std::optional<line_message> last;
  std::erase_if(unclaimed_, [&](unclaimed& one) {
    if (one.request != request) return false;
    last = std::move(one.message);
    return true;
  });
  return last;
}

bool waiting_room::knows(std::uint64_t request) {
  const scoped_mutex lock(mutex_);
  return waiting_.contains(request);
}

void waiting_room::leave(std::uint64_t request) {
  const scoped_mutex lock(mutex_);
  waiting_.erase(request);
}

void waiting_room::wake_changes_of(const lock_driver& held) {
  std::vector<std::shared_ptr<redis_lock>> all;
  {
    const scoped_mutex lock(mutex_);
    for (const auto& [request, who] : waiting_) {
      if (who->spec().changes() == &held) all.push_back(who);
    }
  }
  for (const auto& who : all) who->on_woken();
}

void waiting_room::keep(const request_id& request, const std::shared_ptr<local_lock>& by) {
  auto& connection = engine_.connection(by->spec().key.slot());
  {
    const scoped_mutex lock(mutex_);
    kept_.insert_or_assign(request.counter(), kept_lock{by, &connection});
  }
  connection.listen(nullptr);
}

void waiting_room::keep_no_more(const request_id& request) {
  redis::connection* listened = nullptr;
  {
    const scoped_mutex lock(mutex_);
    const auto found = kept_.find(request.counter());
    if (found == kept_.end()) return;
    listened = found->second.listens;
    kept_.erase(found);
  }
  listened->unlisten(nullptr);
}

void waiting_room::hear(const request_id& request, std::weak_ptr<hint_listener> who) {
  const scoped_mutex lock(mutex_);
  hearing_.insert_or_assign(request.counter(), std::move(who));
}

void waiting_room::hear_no_more(const request_id& request) {
  const scoped_mutex lock(mutex_);
  hearing_.erase(request.counter());
}

bool waiting_room::on_push(const master& from, const resp::value& message, std::uint64_t position) {
  const bool has_text = message.items.size() == 3;
  if (!has_text || !is_message(message.items[0].text)) return false;
  auto said = dialects::read_message(engine_.space(), id_, message.items[2].text);
  if (!said) return false;
  if (auto* const grant = std::get_if<dialects::handed_over>(&*said)) {
    if (grant->proof != engine_.proof_of(grant->request)) return true;  // nobody's queue said that
    const bool may_be_elsewhere = engine_.is_cluster();
    if (may_be_elsewhere && &engine_.at(slot_of(*grant)) != &from) return true;
    deliver(from, grant->request, {std::move(*grant), position});
  } else if (const auto* const first = std::get_if<dialects::first_in_line>(&*said)) {
    deliver(from, first->request, {*first, position});
  } else if (const auto* const free = std::get_if<dialects::freed>(&*said)) {
    deliver(*free);
  } else {
    deliver(std::get<dialects::wanted>(*said));
  }
  return true;
}

void waiting_room::deliver(const dialects::wanted& what) {
  std::shared_ptr<local_lock> keeper;
  {
    const scoped_mutex lock(mutex_);
    if (const auto found = kept_.find(what.request); found != kept_.end()) {
      keeper = found->second.local.lock();
    }
  }
  if (keeper) keeper->revoke();
}

void waiting_room::deliver(const dialects::freed& what) {
  std::shared_ptr<hint_listener> who;
  {
    const scoped_mutex lock(mutex_);
    if (const auto found = hearing_.find(what.request); found != hearing_.end()) {
      who = found->second.lock();
    }
  }
  if (who) who->on_hint();
}

void waiting_room::deliver(const master& from, std::uint64_t request, line_message message) {
  std::shared_ptr<redis_lock> addressee;
  {
    const scoped_mutex lock(mutex_);
    if (const auto found = waiting_.find(request); found != waiting_.end()) {
      addressee = found->second;
    } else if (unclaimed_.size() < most_unclaimed) {
      const auto until = net::now() + patience;
      unclaimed_.push_back({request, std::move(message), until});
      if (unclaimed_.size() == 1) engine_.timers().arm(*this, until);
    }
  }
  if (addressee) addressee->on_message(from, message);
}

void waiting_room::on_broken(const slot_set& of) {
  std::vector<std::shared_ptr<redis_lock>> all;
  std::vector<std::shared_ptr<local_lock>> keepers;
  {
    const scoped_mutex lock(mutex_);
    for (const auto& [request, who] : waiting_) {
      if (of[who->claim().key->slot()]) all.push_back(who);
    }
    for (const auto& [request, who] : kept_) {
      auto keeper = who.local.lock();
      if (keeper && of[keeper->spec().key.slot()]) keepers.push_back(std::move(keeper));
    }
  }
  for (const auto& who : all) who->on_woken();
  for (const auto& keeper : keepers) keeper->revoke();
}

void waiting_room::on_timer(monotonic_time now) {
  std::vector<unclaimed> departed;
  {
    const scoped_mutex lock(mutex_);
    const auto fresh =
        std::ranges::find_if(unclaimed_, [&](const unclaimed& one) { return one.until > now; });
    std::move(unclaimed_.begin(), fresh, std::back_inserter(departed));
    unclaimed_.erase(unclaimed_.begin(), fresh);
    if (!unclaimed_.empty()) engine_.timers().arm(*this, unclaimed_.front().until);
  }
  for (const auto& [request, message, until] : departed) {
    const auto* const grant = std::get_if<dialects::handed_over>(&message.what);
    if (grant == nullptr || !is_returned(*grant)) continue;
    auto& sent_back = *new return_to_sender{*this, engine_.space(), id_, *grant};
    engine_.connection(sent_back.slot()).submit(sent_back, redis::connection::delivery::lazy);
  }
}

}  // namespace holdfast::redis_locks
