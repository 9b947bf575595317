// The servers' view of the locks that a command wants, or has.
#pragma once

#include <string>
#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/inspector.hpp>
#include <holdfast/result.hpp>

#include "cli/lock_choice.hpp"

namespace holdfast::cli {

class lock_view {
 public:
  lock_view(std::vector<client> servers, const lock_choice& lock);

  const lock_choice& lock() const noexcept { return lock_; }

  // Of a quorum, its own or as the first member tells that knows of a holder. A failure when nobody
  // can tell.
  result<lock_status> status(const std::string& name) const;

  struct sight {
    // "'a' is held by web1:4711 backup", of several locks each with a comma between them.
    std::string holders{};
    std::string unseen{};  // why a lock could not be looked at; empty when each could
  };
  sight look() const;

  // Of the servers, with commas between them; without users and passwords.
  std::string addresses() const;

 private:
  result<lock_status> of_quorum(const std::string& name) const;

  std::vector<client> servers_;
  const lock_choice& lock_;
};

}  // namespace holdfast::cli
