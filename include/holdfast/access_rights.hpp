/// \file
/// What the server must allow the user as whom a client logs in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

/// Rights as words of ACL SETUSER. What is not named is not needed: give a user these behind
/// `reset`.
struct access_rights {
  std::vector<std::string> needed;  ///< "resetchannels", "~hf:{orders:*}*", "&hf:c:*", "+time", ...

  /// What is tried as well. Without it things take longer or are seen by fewer people, and the
  /// server's ACL LOG tells of refusals.
  std::vector<std::string> optional;
};

/// The smallest rights for locks and values of these kinds whose names match a pattern. They are
/// read off the scripts that are really sent.
///
/// `name_pattern`: a glob as the server knows it, over names. Names are encoded in keys, and so is
/// the pattern; where it has a space or a quotation mark, which the server does not take in
/// patterns, any byte will match. Of fenced writes it is a pattern over the keys that are written.
/// `kinds`: Holdfast's own, as `capabilities()` names them, or "operator" for those who look at
/// locks of any kind and break them (`holdfast status`, `ls`, `watch`, `release --force`,
/// `doctor`). Beside the others: "cluster" for nodes of a Redis Cluster, "replicas" for
/// `client_options::min_replicas`, "deadlocks" for `client_options::detect_deadlocks`. No kind but
/// those: all locks. Throws `failure{errc::invalid_argument}` for a kind that is not known, for
/// those of other libraries, and for an empty pattern. `tenant`: that of the clients
/// (`client_options::tenant`), whose keys and channels alone the rights are for then; throws also
/// when it is no name of one.
[[nodiscard]] access_rights access_rights_for(std::string_view name_pattern,
                                              const std::vector<std::string>& kinds = {},
                                              std::string_view tenant = {});

}  // namespace holdfast
