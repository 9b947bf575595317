// How a loss is told.
#pragma once

#include <memory>
#include <stop_token>
#include <utility>

#include <holdfast/detail/completion.hpp>

namespace holdfast::runtime {

// Fires a lease's stop token on the callback thread, so the user's callbacks on it run there.
class loss_notice final : public detail::completion {
 public:
  explicit loss_notice(std::stop_source source) : source_(std::move(source)) {}
  void complete() noexcept override {
    const std::unique_ptr<loss_notice> self(this);
    source_.request_stop();
  }

 private:
  std::stop_source source_;
};

}  // namespace holdfast::runtime
