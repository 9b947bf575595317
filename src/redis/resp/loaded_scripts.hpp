// Which scripts a server has, as far as one of its connections must know.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "redis/resp/writer.hpp"

namespace holdfast::resp {

// Trusts the server to have all, as it usually has, until it says that it lacks one. Then each
// script that was not loaded before is sent as text once. Otherwise the server would report each
// one that it lacks, at the cost of a trip, and requests sent meanwhile would overtake the retry.
// Thread safety: none.
class loaded_scripts {
 public:
  // On a new connection, maybe to another server, on which these were loaded in their `form`.
  void start(std::span<const script* const> loaded, bool in_cluster);
  // The form in which this script is sent; the others ask about that.
  const script& form(const script& s) const noexcept { return s.form(in_cluster_); }
  // Whether its SHA-1 will do.
  bool has(const script& s) const;
  // Its text is sent now. `missed`: since the server has said that it lacks it.
  void sends_text(const script& s, bool missed);

 private:
  bool in_cluster_ = false;
  bool in_doubt_ = false;
  std::vector<std::string> sent_;  // their SHA-1s
};

}  // namespace holdfast::resp
