#include "cli/raw_connection.hpp"

#include <sys/time.h>

#include <string_view>

#include <holdfast/errc.hpp>

#include "cli/server_address.hpp"

namespace holdfast::cli {
namespace {

timeval as_timeval(std::chrono::milliseconds time) {
  return {time.count() / 1000, (time.count() % 1000) * 1000};
}

// The beginnings of refusals that need a message of their own: a refused log-in and a missing
// right. The library knows more, and has talked to this server before, but tells nobody.
errc reason_of(std::string_view error) {
  const auto begins = [&](std::string_view text) { return error.starts_with(text); };
  if (begins("NOAUTH ") || begins("WRONGPASS ")) return errc::authentication;
  return begins("NOPERM ") ? errc::permission_denied : errc::server_error;
}

}  // namespace

raw_connection::raw_connection(const connection_options& server) {
  const auto at = read_address(server);
  const auto timeout = as_timeval(server.connect_timeout);
  context_.reset(at.socket.empty() ? redisConnectWithTimeout(at.host.c_str(), at.port, timeout)
                                   : redisConnectUnixWithTimeout(at.socket.c_str(), timeout));
  if (context_ == nullptr || context_->err != 0) {
    const std::string why = context_ == nullptr ? "out of memory" : context_->errstr;
    throw failure{errc::unavailable, (at.socket.empty() ? at.host : at.socket) + ": " + why};
  }
  // As the library does: with a name, since a user without a password takes any.
  if (!at.username.empty() || !at.password.empty()) {
    ask({"AUTH", at.username.empty() ? "default" : at.username, at.password});
  }
  if (at.database != "0") ask({"SELECT", at.database});
}

raw_connection::reply raw_connection::ask(const std::vector<std::string>& words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const auto& word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  reply answer{static_cast<redisReply*>(redisCommandArgv(
      context_.get(), static_cast<int>(words.size()), texts.data(), sizes.data()))};
  if (answer == nullptr) throw failure{errc::unavailable, context_->errstr};
  if (answer->type == REDIS_REPLY_ERROR) throw failure{reason_of(answer->str), answer->str};
  return answer;
}

void raw_connection::bound_answers(std::chrono::milliseconds timeout) {
  redisSetTimeout(context_.get(), as_timeval(timeout));
}

}  // namespace holdfast::cli
