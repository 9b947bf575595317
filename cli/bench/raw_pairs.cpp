#include "cli/bench/raw_pairs.hpp"

#include <fmt/format.h>

#include <exception>

#include <holdfast/errc.hpp>

#include "bench_scripts.hpp"

namespace holdfast::cli::bench {
namespace {

// Far enough that no request is too late, whatever the server's clock says.
constexpr const char* never_late = "4503599627370496";

}  // namespace

raw_pairs::raw_pairs(const connection_options& server, const std::string& prefix,
                     std::chrono::milliseconds lease)
    : connection_(server),
      key_(server.tenant_prefix() + prefix + "{raw}"),
      queue_(key_ + ":w"),
      heard_(key_ + ":i"),
      fence_(server.tenant_prefix() + prefix + "fence:{raw}"),
      lease_(std::to_string(lease.count())) {
  connection_.bound_answers(server.response_timeout);
  acquire_ = connection_.ask({"SCRIPT", "LOAD", acquire_script})->str;
  release_ = connection_.ask({"SCRIPT", "LOAD", release_script})->str;
}

raw_pairs::~raw_pairs() {
  try {
    connection_.ask({"DEL", key_, fence_});
  } catch (const std::exception&) {
    return;  // the server is gone, and the measurement has failed for the same reason
  }
}

void raw_pairs::ping() { connection_.ask({"PING"}); }

void raw_pairs::pair() {
  const auto owner = fmt::format("{:032x}-{:x}", 0, ++requests_);
  const auto grant = connection_.ask(
      {"EVALSHA", acquire_, "4", key_, queue_, heard_, fence_, owner, lease_, never_late, "0"});
  if (grant->type != REDIS_REPLY_INTEGER || grant->integer <= 0) {
    throw failure{errc::server_error, "the plain connection was not granted its own lock"};
  }
  const auto value = fmt::format("1:{}:{}", grant->integer, owner);
  const auto released =
      connection_.ask({"EVALSHA", release_, "4", key_, queue_, heard_, fence_, value});
  if (released->integer != 1) {
    throw failure{errc::server_error, "the plain connection could not give its lock back"};
  }
}

}  // namespace holdfast::cli::bench
