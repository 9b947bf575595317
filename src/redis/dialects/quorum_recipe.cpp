#include "redis/dialects/quorum_recipe.hpp"

#include <utility>

#include "base/never_destroyed.hpp"
#include "redis/dialects/holdfast/answers.hpp"

namespace holdfast::dialects {
namespace {

class native_votes final : public quorum_recipe {
 public:
  void write_acquire(const quorum_claim& wanted, newcomer how, milliseconds longest_lease,
                     server_time not_after, resp::writer& out) const override {
    write_quorum_acquire(wanted, how, longest_lease, not_after, out);
  }
  vote read_vote(const quorum_claim& wanted, const resp::value& v) const override {
    return dialects::read_vote(wanted, v);
  }
  void write_keep(const quorum_claim& held, bool votes_again, milliseconds longest_lease,
                  server_time not_after, resp::writer& out) const override {
    write_quorum_keep(held, votes_again, longest_lease, not_after, out);
  }
  renew_verdict read_keep(const resp::value& v) const override { return read_quorum_keep(v); }
  void write_release(const quorum_claim& held, bool hears_on, resp::writer& out) const override {
    write_quorum_release(held, hears_on, out);
  }
  release_verdict read_release(const resp::value& v) const override {
    return read_quorum_release(v);
  }
};

claim one_of(const quorum_claim& all) {
  return {.key = all.key, .owner = all.owner, .lease = all.lease};
}

class foreign_votes final : public quorum_recipe {
 public:
  explicit foreign_votes(std::shared_ptr<const foreign_recipe> how) : how_(std::move(how)) {}

  void write_acquire(const quorum_claim& wanted, newcomer, milliseconds, server_time not_after,
                     resp::writer& out) const override {
    how_->write_acquire(one_of(wanted), false, not_after, out);
  }

  vote read_vote(const quorum_claim& wanted, const resp::value& v) const override {
    // No question is sent twice with one request id, unless the first was refused.
    if (leading_word(v) == "mine") return voted_before{};
    const auto said = how_->read_acquire(one_of(wanted), v);
    if (const auto* given = std::get_if<granted>(&said)) return *given;
    if (const auto* other = std::get_if<busy>(&said)) return *other;
    if (const auto* too_late = std::get_if<late>(&said)) return *too_late;
    if (const auto* why = std::get_if<refused>(&said)) return *why;
    return not_understood("acquire", v);
  }

  void write_keep(const quorum_claim& held, bool, milliseconds, server_time not_after,
                  resp::writer& out) const override {
    const claim one = one_of(held);
    const claim* const only = &one;
    how_->write_renew({&only, 1}, not_after, out);
  }
  renew_verdict read_keep(const resp::value& v) const override { return how_->read_renew(v, 0); }

  void write_release(const quorum_claim& held, bool, resp::writer& out) const override {
    how_->write_release(one_of(held), out);
  }
  release_verdict read_release(const resp::value& v) const override {
    return how_->read_release(v);
  }

 private:
  const std::shared_ptr<const foreign_recipe> how_;
};

}  // namespace

std::shared_ptr<const quorum_recipe> native_quorum() {
  static const never_destroyed<std::shared_ptr<const quorum_recipe>> only{
      std::make_shared<const native_votes>()};
  return *only;
}

std::shared_ptr<const quorum_recipe> foreign_quorum(std::shared_ptr<const foreign_recipe> how) {
  return std::make_shared<const foreign_votes>(std::move(how));
}

}  // namespace holdfast::dialects
