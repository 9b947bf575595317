#include "redis/connection/destination.hpp"

namespace holdfast::redis {

bool destination::arrive(const std::string& address) {
  reached_ = true;
  if (!elsewhere_.empty() && elsewhere_ != address) {
    state_ = state::down;
    return false;
  }
  address_ = address;
  state_ = state::up;
  return true;
}

bool destination::must_leave_for(const std::string& address) {
  if (is_up()) return address != address_;
  if (!address.empty()) elsewhere_ = address;
  return false;
}

}  // namespace holdfast::redis
