// The caller that waits for a request, and the request's result.
#pragma once

#include <memory>
#include <new>
#include <string>
#include <utility>

#include <holdfast/errc.hpp>

#include "lease/step.hpp"
#include "runtime/listener.hpp"

namespace holdfast::runtime {

// A held lock has one, so it is small. Under the mutex of the object that has it.
struct caller {
  listener who{};
  errc code{};                            // of the end: errc{} is success
  bool waited = false;                    // it was not to be had at once
  std::unique_ptr<std::string> detail{};  // null: no more is known

  void note(const leasing::outcome& ended) noexcept {
    code = ended.code.value_or(errc{});
    detail.reset();
    if (code == errc{} || ended.detail.empty()) return;
    try {
      detail = std::make_unique<std::string>(ended.detail);
    } catch (const std::bad_alloc&) {  // that it failed matters more than why
    }
  }

  leasing::outcome take() {
    const auto why = std::exchange(detail, nullptr);
    const auto how = std::exchange(code, errc{});
    if (how == errc{}) return {};
    return {how, why ? std::move(*why) : std::string{}};
  }
};

}  // namespace holdfast::runtime
