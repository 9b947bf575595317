// Uses of each kind of lock, for tests that spoil them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "base/key_space.hpp"
#include "support/private_server.hpp"

namespace holdfast::faults {

// A party that works on something named "a", with a second client of the same user.
struct crew {
  client one;
  client two;
  const support::private_server& server;
  key_space space{};  // theirs

  // Until so many wait at the queue of "a"; gives up early, since who may not wait never does.
  void await_queue(std::int64_t many) const;
};

// At a crew's database, which is not the first one.
resp::value at_their_database(const support::private_server& server,
                              const std::vector<std::string>& command);

// The use of each kind; kinds in one group have the same scripts.
struct group {
  std::vector<std::string> kinds;
  std::vector<std::function<void(const crew&)>> work;
};

const std::vector<group>& groups();

// Lets a crew do it. The failure that ended it, or nothing.
std::string attempt(const std::function<void(const crew&)>& work,
                    const support::private_server& server, const client_options& options);

// A lock is taken, waited for in vain, prolonged, and handed over to one of two who wait.
void use(const crew& us, const lock& mine, const lock& theirs);

}  // namespace holdfast::faults
