// What the servers tell of the locks that a command wants, or has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/inspector.hpp>

#include "cli/lock_choice.hpp"

namespace holdfast::cli {

class lock_view {
 public:
  lock_view(std::vector<client> servers, const lock_choice& lock);

  const lock_choice& lock() const noexcept { return lock_; }

  // Of a quorum, its own or as the first member tells that knows of a holder. Nothing when nobody
  // can tell.
  std::optional<lock_status> status(const std::string& name) const;

  // "'a' is held by web1:4711 backup", of several locks each with a comma between them; empty when
  // nobody can tell.
  std::string holders() const;

 private:
  std::optional<lock_status> of_quorum(const std::string& name) const;

  std::vector<client> servers_;
  const lock_choice& lock_;
};

}  // namespace holdfast::cli
