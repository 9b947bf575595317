// The public handles' inside, for the library's own sources.
#pragma once

#include <memory>
#include <utility>

#include <holdfast/client.hpp>
#include <holdfast/dialect.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/lock.hpp>

#include "runtime/client_core.hpp"
#include "runtime/lock_source.hpp"
#include "runtime/observed_holding.hpp"

namespace holdfast::detail {

struct lock_access {
  static lock make(std::shared_ptr<runtime::client_core> core,
                   std::shared_ptr<runtime::lock_source> source) {
    return {std::move(core), std::move(source)};
  }
  static const std::shared_ptr<runtime::client_core>& core(const lock& of) { return of.core_; }
  static const std::shared_ptr<runtime::client_core>& core(const client& of) { return of.core_; }
  static const std::shared_ptr<runtime::lock_source>& source(const lock& of) { return of.source_; }
  static const std::shared_ptr<const dialects::foreign_recipe>& recipe(const dialect& of) {
    return of.recipe_;
  }
  static dialect in(std::shared_ptr<const dialects::foreign_recipe> recipe) noexcept {
    return dialect{std::move(recipe)};
  }
  static const std::shared_ptr<runtime::holding>& holding(const lease& of) {
    return runtime::bare(of.holding_);
  }
};

}  // namespace holdfast::detail
