// What the reference says of a kind of lock that is held: who may hold together, what may be
// changed into what, whose token is larger. The queue and the leases are the same for all kinds:
// stage.hpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reference/observer.hpp"
#include "reference/run.hpp"

namespace holdfast::reference {

// How one request asks.
struct terms {
  milliseconds lease{30'000};
  bool fixed = false;  // renewal::none
  bool fair = false;
  milliseconds retain{0};
  std::uint32_t queue_limit = 100'000;
  friend bool operator==(const terms&, const terms&) = default;
};

class held_kind {
 public:
  held_kind() = default;
  held_kind(const held_kind&) = delete;
  held_kind& operator=(const held_kind&) = delete;
  virtual ~held_kind() = default;

  virtual std::string family() const = 0;
  virtual lock_kind shown() const = 0;
  virtual want any(run& choices) = 0;
  virtual bool admits(const std::vector<want>& held, const want& asked) const = 0;
  virtual lock to_hold(const client& by, const std::string& name, const want& asked,
                       const terms& how) const = 0;

  // Whether who asks passes the lock on to others of its client, so that only one interest for each
  // client keeps the order of arrival strict.
  virtual bool passed_on(const want&, const terms& how) const { return !how.fair; }
  virtual bool has_terms() const { return true; }  // false: no queue_limit, fair, ...
  virtual bool has_token() const { return true; }
  virtual bool retains() const { return false; }
  virtual bool refuses_reentry() const { return false; }

  // Changes in place.
  virtual std::vector<want> changes_of(const want&) const { return {}; }
  virtual lock to_change(const client& by, const std::string& name, const lease& held,
                         const want& from, const want& to, const terms& how) const;
  // Why what has `from` can never become `to`: an exception that the call must throw.
  virtual std::optional<want> refused_change(const want&) const { return std::nullopt; }

  // Of a semaphore.
  virtual std::uint32_t permits() const { return 0; }
  virtual bool can_be_resized() const { return false; }
  virtual void resize(std::uint32_t) {}
};

mutex_options options_of(const terms& how);

// For locks that go by the table of modes.
bool all_go_together(const std::vector<want>& held, const want& asked);

using kind_maker = std::unique_ptr<held_kind> (*)(run&);
std::unique_ptr<held_kind> mutex_kind(run& choices);
std::unique_ptr<held_kind> plain_set_kind(run& choices);
std::unique_ptr<held_kind> retained_kind(run& choices);
std::unique_ptr<held_kind> election_kind(run& choices);
std::unique_ptr<held_kind> read_write_kind(run& choices);
std::unique_ptr<held_kind> semaphore_kind(run& choices);
std::unique_ptr<held_kind> mode_lock_kind(run& choices);

}  // namespace holdfast::reference
