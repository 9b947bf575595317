// Asks the sentinels of a master about it and its replicas.
#pragma once

#include <optional>
#include <vector>

#include <holdfast/inspector.hpp>

#include "doctor/replica_check.hpp"
#include "redis/connection/sentinel.hpp"

namespace holdfast::doctor {

// Adds what each of them says. Returns one that names the master as most do; nothing: none names
// any. Waits for each as long as `patience` at most.
std::optional<net::endpoint> examine_sentinels(const redis::sentinel_group& group,
                                               milliseconds patience, std::vector<finding>& into);

// As this one knows them; none, and a finding, when its user may not ask.
std::vector<known_replica> replicas_known_to(const net::endpoint& sentinel,
                                             const redis::sentinel_group& group,
                                             milliseconds patience, std::vector<finding>& into);

}  // namespace holdfast::doctor
