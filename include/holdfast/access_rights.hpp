/// \file
/// The rights that a client's user needs on the server.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <holdfast/detail/export.hpp>

namespace holdfast {

/// Rights as words of ACL SETUSER. A client needs no other rights: give a user these behind
/// `reset`.
struct access_rights {
  std::vector<std::string> needed;  ///< "resetchannels", "~hf:{orders:*}*", "&hf:c:*", "+time", ...

  /// Rights that clients use where they have them. Without these, things take longer or are seen by
  /// fewer people, and the server's ACL LOG tells of refusals.
  std::vector<std::string> optional;
};

/// The smallest rights for locks and values of these kinds whose names match a pattern. They are
/// read off the scripts that are really sent.
///
/// - `name_pattern`: a glob as the server knows it, over names. Names are encoded in keys, and so
///   is the pattern. The server does not take a space or a quotation mark in patterns; where the
///   pattern has one, any byte will match. Of fenced writes it is a pattern over the keys that are
///   written.
/// - `kinds`: Holdfast's own, as `capabilities()` names them, "viewer" or "operator". A viewer may
///   look at locks of any kind (`holdfast status`, `ls`, `watch`), and change nothing. An operator
///   may also break them (`release --force`, `doctor`). Beside the others: "cluster" for nodes of a
///   Redis Cluster, "replicas" for `client_options::min_replicas`, "deadlocks" for
///   `client_options::detect_deadlocks`, "audit" for `client_options::audit`. If there is no kind
///   but those four, the rights are for all locks.
/// - `tenant`: that of the clients (`client_options::tenant`). The rights are then for its keys and
///   channels alone.
///
/// Throws `failure{errc::invalid_argument}` for a kind that is not known, for kinds of other
/// libraries, for an empty pattern, and for a tenant that is no name of one.
HOLDFAST_EXPORT [[nodiscard]] access_rights access_rights_for(
    std::string_view name_pattern, const std::vector<std::string>& kinds = {},
    std::string_view tenant = {});

}  // namespace holdfast
