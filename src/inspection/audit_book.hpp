// Entries of the audit trail, put together: each grant with its end.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <holdfast/inspector.hpp>

#include "base/time.hpp"
#include "redis/dialects/holdfast/trail.hpp"

namespace holdfast::inspection {

// What is known of locks and clients besides. It is asked after a part of the trail was read. What
// was written meanwhile is added before records(): a client that has ended wrote all before.
struct audit_witness {
  std::map<std::string, lock_status> held{};  // locks that are held
  std::set<std::string> unseen{};             // locks that could not be looked at
  bool saw_no_others = false;                 // nor could others
  std::set<std::string> gone{};               // clients without an entry in the registry
};

// Thread safety: one thread.
class audit_book {
 public:
  // Takes entries of the locks whose name matches.
  explicit audit_book(std::string_view pattern) : pattern_(pattern) {}

  // In the order of the stream. One that came before changes nothing.
  void add(const dialects::trail_entry& entry);
  void add(dialects::break_entry entry);

  // Of grants whose end was not told.
  std::set<std::string> open_locks() const;
  std::set<std::string> open_clients() const;

  // What happened from `since` on, the latest grant last. Times are the server's.
  std::vector<audit_record> records(milliseconds since, milliseconds now,
                                    const audit_witness& beside) const;
  // Entries that clients dropped since then.
  std::uint64_t missed(milliseconds since) const;

 private:
  struct grant {
    dialects::trail_entry told;  // that of the grant, or else that of its end
    std::optional<dialects::trail_entry> end{};
  };

  struct missing {
    milliseconds at;
    std::uint64_t many;
  };

  const dialects::break_entry* break_of(const grant& one) const;
  bool is_held(const grant& one, const lock_status& found) const;
  bool has_later(const grant& one, milliseconds before) const;
  grant_end end_of(const grant& one, milliseconds now, const audit_witness& beside) const;
  audit_record show(const grant& one, milliseconds now, const audit_witness& beside) const;

  const std::string_view pattern_;
  std::map<std::tuple<std::string, std::string, std::string>, grant> grants_;
  std::map<std::string, std::map<std::uint64_t, milliseconds>> mutexes_;  // when each token came
  std::vector<dialects::break_entry> breaks_;
  std::map<std::pair<std::string, std::string>, missing> missed_;
};

}  // namespace holdfast::inspection
