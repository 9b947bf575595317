#include "reference/run.hpp"

#include <sstream>

#include "net/clock.hpp"

namespace holdfast::reference {

world::world(const support::private_server& server, std::size_t clients)
    : server_(server), looks_(client(server.url())) {
  for (std::size_t i = 0; i < clients; ++i) {
    clients_.emplace_back(server.url(), client_options{.name = "client " + std::to_string(i)});
  }
}

run::run(world& where, std::string kind, std::uint64_t seed)
    : where_(where), kind_(std::move(kind)), seed_(seed), choices_(seed), began_(net::now()) {}

std::string run::fresh_name() {
  return kind_ + ":" + std::to_string(seed_) + ":" + std::to_string(names_++);
}

void run::did(const std::string& what) {
  noted(what);
  const std::lock_guard lock(guard_);
  ++operations_;
}

void run::noted(const std::string& what) {
  const std::lock_guard lock(guard_);
  story_.push_back(std::to_string(in_ms(net::now() - began_)) + " ms  " + what);
}

void run::disagree(const sentence& promised, const std::string& seen) {
  std::ostringstream text;
  text << seen << "\n  promised (" << promised.page << "): " << promised.text;
  throw disagreement(text.str());
}

std::string run::story() const {
  const std::lock_guard lock(guard_);
  std::string all;
  for (const auto& line : story_) all += "    " + line + "\n";
  return all;
}

std::int64_t in_ms(nanoseconds time) {
  return std::chrono::duration_cast<milliseconds>(time).count();
}

}  // namespace holdfast::reference
