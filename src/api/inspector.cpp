#include <holdfast/inspector.hpp>

#include <utility>

#include "api/audit.hpp"
#include "api/diagnosis.hpp"
#include "api/key_scan.hpp"
#include "api/lock_names.hpp"
#include "api/native_status.hpp"
#include "api/registry.hpp"
#include "api/survey.hpp"

namespace holdfast {

inspector::inspector(client redis) : redis_(std::move(redis)) {}

lock_status inspector::status(std::string_view name) const {
  auto& core = *redis_.core_;
  api::known_clients known(core);
  return api::status_of(core, core.engine().key_of(name), known);
}

lock_listing inspector::list(std::string_view pattern, const list_options& options) const {
  auto& core = *redis_.core_;
  api::survey survey{core};
  api::lock_names names{core, pattern};
  lock_listing listing;
  if (api::is_one_name(pattern)) {
    names.add(std::string{pattern});
  } else if (api::key_scan scan{core, survey, options}; scan.count() <= options.most_scanned) {
    const auto of_locks = core.engine().space().named("{*}");
    listing.complete = scan.walk(of_locks, [&](const std::vector<std::string>& keys) {
      for (const auto& key : keys) names.add_key(key);
      return names.all().size() <= options.most;
    });
  } else {
    listing.complete = names.read_index(survey);
    listing.indexed = true;
  }
  api::show(core, names, options.most, survey, listing);
  listing.unseen = survey.unseen();
  if (!listing.unseen.empty()) listing.complete = false;
  return listing;
}

lock_status inspector::break_lock(std::string_view name, std::string_view reason) const {
  auto& core = *redis_.core_;
  const auto key = core.engine().key_of(name);
  auto broken = api::take_away(core, key);
  api::record_break(core, reason, broken);
  return broken;
}

std::vector<finding> inspector::diagnose() const { return api::diagnose(redis_, *redis_.core_); }

}  // namespace holdfast
