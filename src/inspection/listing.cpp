#include "inspection/listing.hpp"

#include <string>
#include <utility>
#include <vector>

#include "inspection/key_scan.hpp"
#include "inspection/lock_names.hpp"
#include "inspection/native_status.hpp"
#include "inspection/survey.hpp"
#include "redis/locks/redis_engine.hpp"

namespace holdfast::inspection {

lock_listing list(runtime::client_core& core, std::string_view pattern,
                  const list_options& options) {
  check_stop(options);
  survey all{core, until_stopped(options)};
  lock_names names{core, pattern};
  shown_locks found{core, all, options};
  key_scan scan{core, all, options};
  lock_listing listing;
  if (is_one_name(pattern)) {
    names.add(std::string{pattern});
  } else {
    listing.indexed = scan.count() > options.most_scanned && names.read_index(all, options);
    // Where there is no index, as far as the search may go.
    const auto search = [&] {
      return scan.walk(redis_locks::engine_of(core).space().named("{*}"),
                       [&](const std::vector<std::string>& keys) {
                         for (const auto& key : keys) names.add_key(key);
                         return !found.are_more_than(options.most, names);
                       });
    };
    listing.cut_short = !listing.indexed && !search();
  }
  found.look_at(names, options.most);
  listing.locks = std::move(found.all());
  finish(listing, options, all);
  return listing;
}

}  // namespace holdfast::inspection
