// Any coroutine type can await a lock: here one that knows nothing of Holdfast.
#include <coroutine>
#include <exception>
#include <future>
#include <iostream>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

namespace {

// Starts at once and fulfils a std::future at its end.
struct future_coroutine {
  struct promise_type {
    std::promise<int> result;
    std::future<int> get_return_object() { return result.get_future(); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_value(int value) { result.set_value(value); }
    void unhandled_exception() { result.set_exception(std::current_exception()); }
  };
};

}  // namespace

template <>
struct std::coroutine_traits<std::future<int>, holdfast::lock, int> {
  using promise_type = future_coroutine::promise_type;
};

namespace {

std::future<int> add_one(holdfast::lock counter, int before) {
  auto lease = co_await counter.async_acquire();  // goes on on the client's callback thread
  const int after = before + 1;
  const auto released = co_await lease.async_release();
  co_return released ? after : before;
}

}  // namespace

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv)};
  const int answer = add_one(redis.mutex("counter"), 41).get();
  std::cout << "the answer is " << answer << '\n';
  return answer == 42 ? 0 : 1;
}
