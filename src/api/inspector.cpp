#include <holdfast/inspector.hpp>

#include <utility>

#include "api/audit.hpp"
#include "api/key_scan.hpp"
#include "api/lock_names.hpp"
#include "api/native_status.hpp"
#include "api/registry.hpp"
#include "api/survey.hpp"
#include "doctor/diagnosis.hpp"

namespace holdfast {

inspector::inspector(client redis) : redis_(std::move(redis)) {}

lock_status inspector::status(std::string_view name) const {
  auto& core = *redis_.core_;
  api::known_clients known(core);
  return api::status_of(core, core.engine().key_of(name), known);
}

lock_listing inspector::list(std::string_view pattern, const list_options& options) const {
  auto& core = *redis_.core_;
  api::check_stop(options);
  api::survey survey{core, api::until_stopped(options)};
  api::lock_names names{core, pattern};
  api::shown_locks found{core, survey, options};
  api::key_scan scan{core, survey, options};
  lock_listing listing;
  if (api::is_one_name(pattern)) {
    names.add(std::string{pattern});
  } else {
    listing.indexed = scan.count() > options.most_scanned && names.read_index(survey, options);
    // Where there is no index, as far as the search may go.
    const auto search = [&] {
      return scan.walk(core.engine().space().named("{*}"),
                       [&](const std::vector<std::string>& keys) {
                         for (const auto& key : keys) names.add_key(key);
                         return !found.are_more_than(options.most, names);
                       });
    };
    listing.cut_short = !listing.indexed && !search();
  }
  found.look_at(names, options.most);
  listing.locks = std::move(found.all());
  api::finish(listing, options, survey);
  return listing;
}

lock_status inspector::break_lock(std::string_view name, std::string_view reason) const {
  auto& core = *redis_.core_;
  const auto key = core.engine().key_of(name);
  auto broken = api::take_away(core, key);
  api::record_break(core, reason, broken);
  return broken;
}

std::vector<finding> inspector::diagnose() const { return doctor::diagnose(redis_, *redis_.core_); }

}  // namespace holdfast
