#include "support/raw_client.hpp"

#include <sched.h>
#include <sys/random.h>

#include <array>
#include <stdexcept>
#include <utility>
#include <variant>

#include "holdfast_scripts.hpp"
#include "net/clock.hpp"
#include "redis/resp/parser.hpp"
#include "redis/resp/writer.hpp"
#include "support/loopback.hpp"

namespace holdfast::bench {
namespace {

client_id random_id() {
  std::array<std::uint8_t, 16> bits{};
  if (::getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size())) {
    throw_errno("getrandom");
  }
  return client_id(bits);
}

// Far enough that no request is too late, whatever the server's clock says.
constexpr server_time never_late{microseconds(std::int64_t{1} << 52)};

}  // namespace

raw_client::raw_client(std::unique_ptr<carrier> by, microseconds spin)
    : by_(std::move(by)), spin_(spin), id_(random_id()) {}

void raw_client::pair(const dialects::recipe& recipe, const lock_key& key) {
  substrate::claim claim{.key = &key,
                         .owner = request_id(id_, ++requests_),
                         .lease = std::chrono::seconds(30),
                         .floor = 0,
                         .granted = 0};
  out_.clear();
  resp::writer acquiring(out_);
  recipe.write_acquire(claim, false, never_late, acquiring);
  by_->send(out_);
  next();
  const auto verdict = recipe.read_acquire(claim, answer_);
  const auto* const grant = std::get_if<substrate::granted>(&verdict);
  if (grant == nullptr) throw std::runtime_error("raw acquire: " + resp::to_string(answer_));
  claim.granted = grant->major;
  out_.clear();
  resp::writer releasing(out_);
  recipe.write_release(claim, releasing);
  by_->send(out_);
  next();
  if (!std::holds_alternative<substrate::released>(recipe.read_release(answer_))) {
    throw std::runtime_error("raw release: " + resp::to_string(answer_));
  }
}

const resp::value& raw_client::command(std::string_view bytes) {
  by_->send(bytes);
  return next();
}

const resp::value& raw_client::ask(std::initializer_list<std::string_view> words) {
  std::string bytes;
  resp::writer out(bytes);
  out.command(words.size());
  for (const auto word : words) out.arg(word);
  return command(bytes);
}

const resp::value& raw_client::next() {
  char buffer[4096];
  for (;;) {
    const auto parsed = resp::parse(in_, answer_);
    if (parsed.what == resp::parse_result::outcome::complete) {
      in_.erase(0, parsed.consumed);
      return answer_;
    }
    std::size_t got = 0;
    if (spin_.count() > 0) {
      const auto until = net::now() + spin_;
      while ((got = by_->receive(buffer, carrier::patience::none)) == 0 && net::now() < until) {
        ::sched_yield();
      }
    }
    if (got == 0) got = by_->receive(buffer, carrier::patience::endless);
    in_.append(buffer, got);
  }
}

void load_scripts(std::uint16_t port) {
  raw_client client(port, microseconds{0});
  for (const auto& script :
       {dialects::scripts::holdfast_acquire, dialects::scripts::holdfast_release}) {
    if (!client.ask({"SCRIPT", "LOAD", script.text}).is_text()) {
      throw std::runtime_error("SCRIPT LOAD failed");
    }
  }
}

std::string line_of(std::uint16_t port, std::initializer_list<std::string_view> command,
                    std::string_view name) {
  raw_client socket(port, microseconds{0});
  const auto all = "\n" + socket.ask(command).text;
  const auto line = "\n" + std::string(name) + ":";
  const auto at = all.find(line);
  if (at == all.npos) return {};
  const auto begin = at + line.size();
  return all.substr(begin, all.find('\r', begin) - begin);
}

double calls_of(std::uint16_t port, std::string_view command) {
  const std::string before = "calls=";
  const auto line = info(port, "cmdstat_" + std::string(command));
  return line.starts_with(before) ? std::stod(line.substr(before.size())) : 0;
}

std::string version_of(std::uint16_t port) {
  const auto valkey = info(port, "valkey_version");  // it says a Redis version too
  return valkey.empty() ? "Redis " + info(port, "redis_version") : "Valkey " + valkey;
}

}  // namespace holdfast::bench
