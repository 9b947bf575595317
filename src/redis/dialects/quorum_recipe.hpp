// How the members of a quorum are asked for their votes: in Holdfast's way, or in that of a library
// which also lets independent servers vote. As `recipe`, for one member.
#pragma once

#include <memory>

#include "redis/dialects/foreign_recipe.hpp"
#include "redis/dialects/holdfast/quorum.hpp"

namespace holdfast::dialects {

// Pure, stateless, shared by all threads.
class quorum_recipe {
 public:
  virtual ~quorum_recipe() = default;

  virtual void write_acquire(const quorum_claim&, newcomer, milliseconds longest_lease,
                             server_time not_after, resp::writer&) const = 0;
  virtual vote read_vote(const quorum_claim&, const resp::value&) const = 0;

  // `votes_again`: also a member that has lost its vote, where the layout can tell whether it has
  // voted for another since.
  virtual void write_keep(const quorum_claim&, bool votes_again, milliseconds longest_lease,
                          server_time not_after, resp::writer&) const = 0;
  virtual renew_verdict read_keep(const resp::value&) const = 0;

  virtual void write_release(const quorum_claim&, bool hears_on, resp::writer&) const = 0;
  virtual release_verdict read_release(const resp::value&) const = 0;
};

// Holdfast's own, with tokens.
std::shared_ptr<const quorum_recipe> native_quorum();

// Each member keeps a lock of that library. Nothing is drawn, remembered or told: all votes carry
// the token 0, and a member without memory votes.
std::shared_ptr<const quorum_recipe> foreign_quorum(std::shared_ptr<const foreign_recipe> how);

}  // namespace holdfast::dialects
