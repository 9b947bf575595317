// The shop's stock and orders.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/demo/store.hpp"
#include "cli/demo/story.hpp"

namespace holdfast::cli::demo {

class stock_store : private store {
 public:
  using store::freeze_if_ordered;
  using store::lock_name;
  using store::order_freeze;
  using store::store;

  std::int64_t stock();
  void open(std::int64_t units);  // a new sale: nothing else is there
  void write(std::int64_t left, std::int64_t units);
  // Writes only when `token` is not below the largest seen; false when it is refused.
  bool write_fenced(std::int64_t left, std::int64_t units, std::uint64_t token);

  // The classic mistake: the key expires, and the old holder deletes the key of the next one.
  bool set_if_absent(const std::string& owner, int ttl_ms);
  std::optional<std::string> delete_lock();  // the owner that was deleted
  std::optional<std::string> holder();

  void count(const std::string& what);
  std::int64_t counted(const std::string& what);

  std::int64_t recorded();
  std::vector<order> orders();
  void remove_all();
};

}  // namespace holdfast::cli::demo
