#include "doctor/script_trial.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lease/server_clock.hpp"
#include "net/clock.hpp"
#include "redis/dialects/catalog.hpp"
#include "redis/dialects/holdfast/client_registry.hpp"
#include "redis/dialects/holdfast/inspect.hpp"
#include "redis/dialects/holdfast/quorum_inspect.hpp"
#include "redis/dialects/holdfast/trail.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/resp/server_error.hpp"

namespace holdfast::doctor {
namespace {

using severity = finding::severity;

std::string acl_command(const key_space& space) {
  const auto tenant = std::string{space.tenant()};
  return "holdfast acl '*' --kind operator" + (tenant.empty() ? "" : " --tenant " + tenant);
}

finding failed(const std::string& script, const resp::value& said, const key_space& space) {
  const auto error = resp::classify(said.is(resp::type::error) ? said.text : to_string(said));
  return {severity::problem, "scripts", script + ": " + error.detail,
          error.code == errc::permission_denied
              ? "give this user the rights that `" + acl_command(space) +
                    "` prints, of which some are doctor's own"
              : "see docs/server-errors.md"};
}

}  // namespace

finding try_every_script(runtime::client_core& core, const lock_key& key, const request_id& owner,
                         const std::function<resp::value(const calls::writing&)>& ask) {
  auto& engine = redis_locks::engine_of(core);
  substrate::claim claim{.key = &key, .owner = owner, .lease = std::chrono::seconds{10}};
  const auto& recipe = dialects::native_mutex(fencing::on);
  const auto* const only = &claim;
  const auto acquired =
      ask([&](resp::writer& out) { recipe.write_acquire(claim, false, leasing::far_future, out); });
  const auto verdict = recipe.read_acquire(claim, acquired);
  const auto* const grant = std::get_if<substrate::granted>(&verdict);
  if (grant == nullptr) return failed("acquire", acquired, engine.space());
  claim.granted = grant->major;
  const auto not_after = leasing::not_after(engine.clock(key.slot()).at(net::now()),
                                            engine.options().response_timeout);
  // At the node of the lock.
  const dialects::client_place nobody{engine.space(), "{" + std::string(key.encoded()) + "}"};
  const std::vector<dialects::note_change> no_note{{dialects::note_field(key, grant->major), ""}};
  const std::pair<const char*, calls::writing> rest[] = {
      {"renew",
       [&](auto& o) {
         recipe.write_renew({&only, 1}, leasing::far_future, o);
       }},
      {"inspect", [&](auto& o) { dialects::write_inspect(key, o); }},
      {"look-up of a client", [&](auto& o) { dialects::write_client_query(nobody, o); }},
      {"note of a grant", [&](auto& o) { dialects::write_notes(nobody, no_note, claim.lease, o); }},
      {"look at a stream", [&](auto& o) { dialects::write_trail_query(nobody.key, "-", o); }},
      {"withdraw", [&](auto& o) { recipe.write_withdraw(claim, o); }},
      {"release", [&](auto& o) { recipe.write_release(claim, o); }},
      {"break", [&](auto& o) { dialects::write_break(key, not_after, o); }},
      {"break of what several hold",
       [&](auto& o) { dialects::write_break_shared(key, not_after, o); }},
      {"inspect of a vote", [&](auto& o) { dialects::write_quorum_inspect(key, o); }},
      {"break of a vote", [&](auto& o) { dialects::write_quorum_break(key, 0, not_after, o); }},
  };
  for (const auto& [name, write] : rest) {
    const auto said = ask(write);
    if (said.is(resp::type::error)) return failed(name, said, engine.space());
  }
  return {severity::ok, "scripts", "acquire, renew, inspect, withdraw, release and break work", {}};
}

}  // namespace holdfast::doctor
