// How the rows of the catalog are put together.
#pragma once

#include <string_view>

#include <holdfast/capabilities.hpp>

namespace holdfast::dialects {

constexpr capability native_value(std::string_view kind, std::string_view made_by) {
  return {.dialect = "holdfast",
          .kind = kind,
          .made_by = made_by,
          .token = false,
          .renewed = false,
          .fair = false,
          .reentrant = false,
          .told = false,
          .handed_over = false,
          .passed_on = false,
          .to_acquire = 1,
          .to_release = 0};
}

// Nobody holds it, but some wait for others.
constexpr capability meeting(std::string_view kind, std::string_view made_by) {
  auto what = native_value(kind, made_by);
  what.told = what.handed_over = true;
  return what;
}

// A run under a mutex, and the record of it. The commands are those of a whole run.
constexpr capability recorded_run(std::string_view kind, std::string_view made_by) {
  auto what = native_value(kind, made_by);
  what.token = what.renewed = what.told = true;
  what.to_acquire = 5;
  return what;
}

constexpr capability native_lock(std::string_view kind, std::string_view made_by) {
  auto what = meeting(kind, made_by);
  what.token = what.renewed = true;
  what.to_release = 1;
  return what;
}

// Of several servers, so that no one of them can hand it over. Figures are those of each member.
constexpr capability vote(std::string_view kind, std::string_view made_by) {
  auto what = native_value(kind, made_by);
  what.token = what.renewed = what.told = true;
  what.to_release = 1;
  return what;
}

constexpr capability fair(capability what) {
  what.fair = true;
  return what;
}

constexpr capability passed_on(capability what) {
  what.passed_on = true;
  return what;
}

constexpr capability reentrant(capability what) {
  what.reentrant = true;
  return what;
}

constexpr capability with_token_for_each_grant(capability what) {
  what.token = true;
  what.passed_on = false;
  return what;
}

constexpr capability never_passed_on(capability what) {
  what.passed_on = false;
  return what;
}

constexpr capability without_token(capability what) {
  what.token = false;
  return what;
}

// A lock of another library, whose threads here pass it on among themselves.
constexpr capability foreign_lock(std::string_view dialect, std::string_view kind,
                                  std::string_view made_by, bool told) {
  auto what = native_value(kind, made_by);
  what.dialect = dialect;
  what.renewed = what.passed_on = true;
  what.told = told;
  what.to_release = 1;
  return what;
}

// Nobody holds it, and waiters are only notified.
constexpr capability foreign_gate(std::string_view dialect, std::string_view kind,
                                  std::string_view made_by) {
  auto what = native_value(kind, made_by);
  what.dialect = dialect;
  what.told = true;
  return what;
}

}  // namespace holdfast::dialects
