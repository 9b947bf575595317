// Reads from the server the state of locks in the holdfast layout, and breaks one.
#pragma once

#include <cstddef>

#include <holdfast/inspector.hpp>

#include "api/lock_names.hpp"
#include "api/registry.hpp"
#include "api/survey.hpp"
#include "base/lock_key.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::api {

// Throws failure when the server cannot be asked.
lock_status status_of(runtime::client_core& core, const lock_key& key, known_clients& known,
                      const runtime::bound& within = {});

// Takes the lock from all who have it: their state. Throws failure also when it is no lock.
lock_status take_away(runtime::client_core& core, const lock_key& key);

// Adds to a listing those of the locks with these names that are held or shut, as many as may be
// shown. What cannot be looked at is noted. Throws failure when it is to stop.
void show(runtime::client_core& core, const lock_names& names, const list_options& options,
          survey& over, lock_listing& listing);

}  // namespace holdfast::api
