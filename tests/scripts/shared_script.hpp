// One client of a lock that several may hold, as the tests of its scripts want it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/dialects/holdfast/shared_lock.hpp"
#include "scripts/script_client.hpp"

namespace holdfast::dialects {

inline constexpr std::string_view modes = "ncdrpxu";
// Long enough for a few commands also on a busy machine.
inline constexpr milliseconds brief_lease{300};

class shared_script_test : public scripts_test {
 protected:
  void SetUp() override {
    scripts_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    shared_ = std::make_unique<script_client>(server(), native_shared_lock());
  }
  script_client& shared() { return *shared_; }

  // Demands outlive the claims that point to them.
  const demand* wants(char mode, std::uint32_t weight = 1, std::uint32_t limit = 0) {
    demands_.push_back(std::make_unique<demand>(demand{mode, weight, limit, {}}));
    return demands_.back().get();
  }
  claim in_mode(char mode) { return permits_or_mode(wants(mode)); }
  claim permits(std::uint32_t count, std::uint32_t of) {
    return permits_or_mode(wants('s', count, of));
  }
  claim instead_of(const claim& held, char mode) {
    demands_.push_back(std::make_unique<demand>(demand{mode, 1, 0, held.owner}));
    return permits_or_mode(demands_.back().get());
  }
  claim waiting(claim one, wakeup_way way = wakeup_way::poll) {
    one.waits = true;
    one.way = way;
    return one;
  }

  bool granted_to(claim& one) {
    const auto verdict = shared().acquire(one);
    const auto* grant = std::get_if<granted>(&verdict);
    if (grant != nullptr) one.granted = grant->major;
    return grant != nullptr;
  }
  std::optional<std::uint64_t> place_of(claim& one) {
    const auto verdict = shared().acquire(one);
    const auto* where = std::get_if<queued>(&verdict);
    if (where == nullptr) return std::nullopt;
    one.ticket = where->ticket;
    return where->place;
  }
  bool holds(const claim& one) {
    const std::string field{one.owner.text()};
    return shared().command({"HEXISTS", key.value_key(), field}).number == 1;
  }
  // Until the server's clock says that every brief lease given before is over.
  void outlive_brief_leases() {
    const auto ends = redis().micros() + microseconds{brief_lease}.count() + 5'000;
    while (redis().micros() < ends) continue;
  }
  std::int64_t release(const claim& one) {
    return static_cast<std::int64_t>(shared().release(one).index());
  }

 private:
  claim permits_or_mode(const demand* what) {
    claim made = claims.next();
    made.wants = what;
    return made;
  }

  std::unique_ptr<script_client> shared_;
  std::vector<std::unique_ptr<demand>> demands_;
};

}  // namespace holdfast::dialects
