// Locks of one client that are all held.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <holdfast/client.hpp>

namespace holdfast::bench {

// Takes them and keeps them, until it is destroyed.
class many_locks {
 public:
  many_locks(const client& redis, std::size_t count);

  // Their cost to this process, of the locks as well as of their leases.
  double bytes_per_lock() const noexcept { return bytes_per_lock_; }
  double lost() const;

 private:
  std::vector<lock> locks_;
  std::vector<lease> held_;
  double bytes_per_lock_ = 0;
};

}  // namespace holdfast::bench
