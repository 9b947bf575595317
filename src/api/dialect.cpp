#include <holdfast/dialect.hpp>

#include <holdfast/errc.hpp>

#include "api/checks.hpp"
#include "dialects/redisson/redisson_recipe.hpp"
#include "dialects/token/token_recipe.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<const dialects::foreign_recipe> plain_lock(dialects::foreign_recipe::habits usual,
                                                           token_layout layout) {
  if (layout.lease) api::check_lease(*layout.lease, "lease");
  if (layout.retry_interval < 1ms || layout.retry_interval > 1h) {
    throw failure{errc::invalid_argument, "retry_interval must be 1 ms to 1 h"};
  }
  usual.lease = layout.lease;
  usual.retry = layout.retry_interval;
  return std::make_shared<const dialects::token_recipe>(
      usual, std::move(layout.key_prefix), layout.value, std::move(layout.fixed_value));
}

std::string not_empty(std::string value, const char* what) {
  if (value.empty()) throw failure{errc::invalid_argument, std::string(what) + " is empty"};
  return value;
}

}  // namespace

dialect dialect::redisson() {
  static const dialect only{std::make_shared<const dialects::redisson_recipe>()};
  return only;
}

dialect dialect::go_zero() {
  static const dialect only{plain_lock({.name = "go_zero", .surplus = dialects::go_zero_surplus},
                                       {.value = token_form::letters})};
  return only;
}

dialect dialect::redis_py() {
  static const dialect only = token({});
  return only;
}

dialect dialect::jedis(std::string id) {
  return token({.fixed_value = not_empty(std::move(id), "the id"), .lease = 30s});
}

dialect dialect::spring_template(std::string code) {
  return token({.fixed_value = not_empty(std::move(code), "the code"),
                .lease = 30s,
                .retry_interval = 50ms});
}

dialect dialect::reentrant_thread_local() {
  static const dialect only = token(
      {.key_prefix = "LOCK_", .value = token_form::uuid, .lease = 15s, .retry_interval = 500ms});
  return only;
}

dialect dialect::token(token_layout layout) {
  return dialect{plain_lock({.name = "token"}, std::move(layout))};
}

std::string_view dialect::name() const noexcept {
  return recipe_ ? recipe_->usual().name : "holdfast";
}

}  // namespace holdfast
