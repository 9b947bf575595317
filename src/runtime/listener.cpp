#include "runtime/listener.hpp"

#include "runtime/engine.hpp"
#include "runtime/executor.hpp"

namespace holdfast::runtime {

bool listener::drives(const net::event_source& which) const noexcept {
  const auto* const thread = executor != nullptr ? &executor->waiter() : sleeper;
  return thread != nullptr && thread->home() == &which;
}

void listener::tell(engine& of) const {
  if (sleeper != nullptr) {
    sleeper->done();
  } else if (executor != nullptr) {
    executor->post(*completion);
  } else if (completion != nullptr) {
    of.callbacks().post(*completion);
  }
}

void listener::withdraw(engine& of) const noexcept {
  if (executor != nullptr) {
    runtime::executor::withdraw(executor, *completion);
  } else if (completion != nullptr) {
    of.callbacks().withdraw(*completion);
  }
}

}  // namespace holdfast::runtime
