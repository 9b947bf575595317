// The base of the layouts of other libraries. The keys are theirs, byte for byte, but the scripts
// that write them are ours: they bear being sent twice and refuse late copies, and they answer as
// those of the holdfast layout do.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/dialects/holdfast/native_recipe.hpp"

namespace holdfast::dialects {

// One holder of such a lock, as far as its key tells.
struct foreign_holder {
  std::string owner;
  std::uint64_t holds = 1;                  // how often this holder has acquired it
  std::optional<milliseconds> remaining{};  // nothing: it has no expiry
  char mode = 0;  // of a read-write lock: r or x; s: a permit of a semaphore
  friend bool operator==(const foreign_holder&, const foreign_holder&) = default;
};
// Empty: nobody has it.
using foreign_holders = std::vector<foreign_holder>;
using foreign_verdict = std::variant<foreign_holders, refused>;

// How a library tells waiters that a lock is free.
struct announcement {
  std::string_view command;  // PUBLISH, SPUBLISH or LPUSH; empty: it does not
  std::string where{};       // the channel; of LPUSH a key
  std::string what{};
};

// The end of taking a lock away: it is gone, nobody had it, or another holder has it now.
enum class break_end : std::uint8_t { broken, free, changed };

// The text of a uuid, of its 32 digits.
std::string with_hyphens(std::string digits);

class foreign_latch;

class foreign_recipe : public native_recipe {
 public:
  // How users of such locks behave.
  struct habits {
    std::string_view name;  // of the dialect
    std::optional<milliseconds> lease{};
    milliseconds retry{};          // between two questions of a waiter that is not notified
    milliseconds longest_retry{};  // at most; 0: twice as long
    short_milliseconds surplus{};  // for how much longer than the lease the server keeps it
    bool has_tokens = false;       // one is drawn for each grant
    bool is_counted = false;       // by the fence counter of the hash slot, as ours are
    milliseconds at_least{};       // so long after it was acquired it is free at the earliest
    milliseconds longest_lease{};  // the longest that the layout can say; 0: as long as any
    bool votes = false;            // servers that know nothing of each other can keep it together
  };

  const habits& usual() const noexcept { return usual_; }

  virtual std::string key_of(std::string_view name) const = 0;
  // Where releases are made known; empty: nowhere.
  virtual std::string channel_of(std::string_view) const { return {}; }
  // Where a waiter is told of them.
  virtual std::string told_at(const claim& waiting) const {
    return channel_of(waiting.key->name());
  }
  // In a cluster: those messages stay within the lock's hash slot.
  virtual bool shards_messages() const noexcept { return false; }
  // That is a key of the lock, which changes when it is given back, and not a channel.
  virtual bool is_told_by_key() const noexcept { return false; }
  // Whether all its keys have one hash slot, so that a node of a cluster can have it.
  virtual bool keeps_one_slot(std::string_view) const { return true; }
  // How the same is written in a cluster, where that differs; null: no otherwise.
  virtual std::shared_ptr<const foreign_recipe> in_cluster() const { return nullptr; }
  // Whether waiters stand in a queue of the library's.
  virtual bool has_queue() const noexcept { return false; }

  // As above, with a token of ours for each grant, from the fence counter of the hash slot, which
  // only Holdfast's holders draw from; null: not known.
  virtual std::shared_ptr<const foreign_recipe> with_fence_counter() const { return nullptr; }

  // The same recipe, whose lock stays for this long after it was acquired, however early it is
  // released; null: the library has no such locks.
  virtual std::shared_ptr<const foreign_recipe> kept_for(milliseconds) const { return nullptr; }

  // How its library writes read-write locks; null where it has none, or we do not know them. Of its
  // claims those in mode r are readers, all others writers.
  virtual std::shared_ptr<const foreign_recipe> read_write() const { return nullptr; }

  // How its library writes the same lock with an order of arrival; null as above.
  virtual std::shared_ptr<const foreign_recipe> fair() const { return nullptr; }

  // How its library writes semaphores; null as above. Claims of it say how many permits.
  virtual std::shared_ptr<const foreign_recipe> semaphore() const { return nullptr; }
  // It is one itself, and nothing else.
  virtual bool is_semaphore() const noexcept { return false; }
  // The count of free permits is at its name.
  virtual bool counts_free_permits() const noexcept { return false; }
  // Whether it can be told how many permits there are, for everybody; answered as a release is.
  virtual bool sets_permits() const noexcept { return false; }
  virtual void write_set_permits(std::string_view, std::uint32_t, server_time /*not_after*/,
                                 resp::writer&) const {}

  // How its library writes latches; null as above.
  virtual std::shared_ptr<const foreign_latch> latch() const { return nullptr; }

  // The client whose attempts write such an owner, as in a client_id's text; empty: it does not
  // tell.
  virtual std::string client_of(std::string_view) const { return {}; }

  // As much of an owner as people may see: anybody who knows all of it can release the lock.
  virtual std::string_view shown(std::string_view owner) const { return owner.substr(0, 8); }

  virtual void write_inspect(std::string_view name, resp::writer&) const;
  foreign_verdict read_inspect(const resp::value&) const;

  // All keys of a lock, first the one that names its holder.
  virtual std::vector<std::string> all_keys_of(std::string_view name) const {
    return {key_of(name)};
  }
  virtual announcement told_when_free(std::string_view) const { return {}; }

  // Takes the lock away from this owner; not of a semaphore, which would lose a permit.
  void write_break(std::string_view name, std::string_view owner, server_time not_after,
                   resp::writer&) const;
  std::variant<break_end, refused> read_break(const resp::value&) const;

  acquire_verdict read_acquire(const claim&, const resp::value&) const override;
  void write_renew(std::span<const claim* const>, server_time not_after,
                   resp::writer&) const override;
  // Where nobody stands in a queue, there is nothing to leave.
  void write_withdraw(const claim& wanted, resp::writer& out) const override {
    write_release(wanted, out);
  }

 protected:
  explicit foreign_recipe(habits usual) noexcept : usual_(usual) {}

  // The script that tells the holders of a lock, one list for each; its only key is that of the
  // lock.
  virtual const resp::script& inspection() const noexcept = 0;

  // The script that prolongs leases, as holdfast/renew.lua is asked.
  virtual const resp::script& renewal() const noexcept = 0;

  // The text at the key for such a claim.
  virtual std::string owner_of(const claim&) const = 0;

  template <typename Recipe>
  static std::shared_ptr<const foreign_recipe> counted(const Recipe& like) {
    auto copy = std::make_shared<Recipe>(like);
    copy->usual_.has_tokens = copy->usual_.is_counted = true;
    return copy;
  }

 private:
  habits usual_;
};

// Throws failure{errc::invalid_argument} for a lease that such a lock cannot have.
void check_longest_lease(const foreign_recipe&, milliseconds lease);

}  // namespace holdfast::dialects
