/// \file
/// A value or the reason why there is none.
#pragma once

#include <utility>
#include <variant>

#include <holdfast/errc.hpp>

namespace holdfast {

/// Either a `T` or a `failure`: how ordinary outcomes (busy, timed out, cancelled) are returned.
///
/// Modelled on C++23's `std::expected`. `operator*` and `operator->` require a value;
/// `value()` throws the failure instead. Thread safety: a value type, like `std::variant`.
template <typename T>
class [[nodiscard]] result {
 public:
  /// A success. Implicit, so that functions can `return` the value.
  result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  /// No value, for this reason.
  result(failure reason) : state_(std::in_place_index<1>, std::move(reason)) {}
  result(errc reason) : state_(std::in_place_index<1>, failure{reason}) {}

  /// Whether it is a success.
  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  /// True when it succeeded, as `has_value()`.
  explicit operator bool() const noexcept { return has_value(); }

  /// The value. Throws the stored `failure` when there is none.
  T& value() & { return check(), *std::get_if<0>(&state_); }
  const T& value() const& { return check(), *std::get_if<0>(&state_); }
  T&& value() && { return check(), std::move(*std::get_if<0>(&state_)); }

  /// The value; undefined when there is none (ask `has_value()` first).
  T& operator*() & noexcept { return *std::get_if<0>(&state_); }
  const T& operator*() const& noexcept { return *std::get_if<0>(&state_); }
  T&& operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
  /// A member of the value; undefined when there is none.
  T* operator->() noexcept { return std::get_if<0>(&state_); }
  const T* operator->() const noexcept { return std::get_if<0>(&state_); }

  /// Why there is no value; undefined when there is one.
  [[nodiscard]] const failure& error() const noexcept { return *std::get_if<1>(&state_); }

 private:
  void check() const {
    if (!has_value()) throw error();
  }

  std::variant<T, failure> state_;
};

/// Success without a value, or a `failure`. Thread safety: a value type.
template <>
class [[nodiscard]] result<void> {
 public:
  result() = default;  ///< A success.
  /// No success, for this reason.
  result(failure reason) : state_(std::in_place_index<1>, std::move(reason)) {}
  result(errc reason) : state_(std::in_place_index<1>, failure{reason}) {}

  /// Whether it is a success.
  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  /// True when it succeeded, as `has_value()`.
  explicit operator bool() const noexcept { return has_value(); }

  /// Throws the stored `failure` when this is not a success.
  void value() const {
    if (!has_value()) throw error();
  }

  /// Why it failed; undefined on success.
  [[nodiscard]] const failure& error() const noexcept { return *std::get_if<1>(&state_); }

 private:
  std::variant<std::monostate, failure> state_;
};

}  // namespace holdfast
