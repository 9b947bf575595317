#include "redis/resp/loaded_scripts.hpp"

#include <algorithm>

namespace holdfast::resp {
namespace {

// More than we have. Of the user's own there may be any number: then all are sent as text again.
constexpr std::size_t most_remembered = 256;

}  // namespace

void loaded_scripts::start(std::span<const script* const> loaded, bool in_cluster) {
  in_cluster_ = in_cluster;
  in_doubt_ = false;
  sent_.clear();
  for (const auto* one : loaded) sent_.emplace_back(form(*one).sha1);
}

bool loaded_scripts::has(const script& s) const {
  return !in_doubt_ || std::ranges::find(sent_, s.sha1) != sent_.end();
}

void loaded_scripts::sends_text(const script& s, bool missed) {
  const bool was_sent = std::ranges::find(sent_, s.sha1) != sent_.end();
  // A server that has forgotten one script has forgotten all.
  if ((missed && was_sent) || sent_.size() == most_remembered) sent_.clear();
  in_doubt_ = in_doubt_ || missed;
  sent_.emplace_back(s.sha1);
}

}  // namespace holdfast::resp
