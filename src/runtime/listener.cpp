#include "runtime/listener.hpp"

#include "runtime/engine.hpp"
#include "runtime/executor.hpp"

namespace holdfast::runtime {

void listener::tell(engine& of) const {
  if (sleeper != nullptr) {
    sleeper->done();
  } else if (executor != nullptr) {
    executor->post(*completion);
  } else if (completion != nullptr) {
    of.callbacks().post(*completion);
  }
}

}  // namespace holdfast::runtime
