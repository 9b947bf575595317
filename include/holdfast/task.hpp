/// \file
/// A minimal coroutine type, for programs that have none of their own.
#pragma once

#include <atomic>
#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <holdfast/detail/local_executor.hpp>

namespace holdfast {

template <typename T>
class task;

namespace detail {

// What task<T> and task<void> share: start when awaited, then resume the awaiter.
class task_promise_base {
 public:
  std::suspend_always initial_suspend() const noexcept { return {}; }

  struct resume_awaiter {
    bool await_ready() const noexcept { return false; }
    template <typename Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
      return ended.promise().awaiter_;
    }
    void await_resume() const noexcept {}
  };
  resume_awaiter final_suspend() const noexcept { return {}; }

  void unhandled_exception() noexcept { thrown_ = std::current_exception(); }
  void set_awaiter(std::coroutine_handle<> awaiter) noexcept { awaiter_ = awaiter; }

 protected:
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  std::coroutine_handle<> awaiter_ = std::noop_coroutine();
  std::exception_ptr thrown_;
};

template <typename T>
class task_promise final : public task_promise_base {
 public:
  task<T> get_return_object() noexcept;
  template <typename U>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  T take() {
    rethrow();
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
};

template <>
class task_promise<void> final : public task_promise_base {
 public:
  task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void take() const { rethrow(); }
};

}  // namespace detail

/// A coroutine that starts when it is awaited and resumes its awaiter when it ends.
///
/// Run one with `sync_wait`. Take parameters by value: references may dangle once it is suspended.
/// The awaitables of this library do not need it: any coroutine type can await them.
///
/// Thread safety: used by one thread at a time; await it once.
template <typename T = void>
class [[nodiscard("co_await it, or nothing runs")]] task {
 public:
  using promise_type = detail::task_promise<T>;  ///< What the compiler needs of a coroutine type.

  /// Made by the compiler, from a coroutine that has not started.
  explicit task(std::coroutine_handle<promise_type> coroutine) noexcept : coroutine_(coroutine) {}
  /// The other is empty then.
  task(task&& other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
  /// The two change places.
  task& operator=(task&& other) noexcept {
    std::swap(coroutine_, other.coroutine_);
    return *this;
  }
  /// Ends the coroutine where it is suspended.
  ~task() {
    if (coroutine_) coroutine_.destroy();
  }

  /// Starts it. Gives what it returns, or throws what it throws.
  auto operator co_await() && noexcept {
    struct awaiter {
      std::coroutine_handle<promise_type> coroutine;
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) const noexcept {
        coroutine.promise().set_awaiter(waiting);
        return coroutine;
      }
      T await_resume() const { return coroutine.promise().take(); }
    };
    return awaiter{coroutine_};
  }

 private:
  std::coroutine_handle<promise_type> coroutine_;
};

namespace detail {

template <typename T>
task<T> task_promise<T>::get_return_object() noexcept {
  return task<T>{std::coroutine_handle<task_promise>::from_promise(*this)};
}
inline task<void> task_promise<void>::get_return_object() noexcept {
  return task<void>{std::coroutine_handle<task_promise>::from_promise(*this)};
}

// Runs from its call to its first suspension at once, and destroys itself at its end.
struct detached {
  struct promise_type {
    detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
  };
};

// Ends a sync_wait: on its own thread, wherever the coroutine ended.
class end_of_wait final : public completion {
 public:
  void complete() noexcept override { reached = true; }
  bool reached = false;
};

template <typename T>
struct wait_state {
  local_executor executor;
  end_of_wait end;
  std::optional<std::conditional_t<std::is_void_v<T>, bool, T>> value;
  std::exception_ptr thrown;
};

// In these two a task ends, frame, parameters and all, before the waiter is told. The waiter may
// return then, and take along what the task's destructors still need. A parameter of a coroutine
// lives as long as its frame, so the task is moved to where it ends earlier.
template <typename T>
detached run_for(task<T> work, wait_state<T>& state) {
  try {
    auto running = std::move(work);
    if constexpr (std::is_void_v<T>) {
      co_await std::move(running);
    } else {
      state.value.emplace(co_await std::move(running));
    }
  } catch (...) {
    state.thrown = std::current_exception();
  }
  state.executor.post(state.end);
}

// Counts the tasks of a when_all that have not ended; the last one resumes the waiter.
struct gathering {
  std::atomic<std::size_t> missing;
  std::atomic<bool> failed{false};
  std::exception_ptr first;
  std::coroutine_handle<> waiting;

  void ended() {
    if (missing.fetch_sub(1, std::memory_order_acq_rel) == 1) waiting.resume();
  }
};

// One of them, which has not begun.
class [[nodiscard]] gathered {
 public:
  struct promise_type {
    gathered get_return_object() noexcept {
      return gathered{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
  };

  explicit gathered(std::coroutine_handle<promise_type> one) noexcept : one_(one) {}
  gathered(gathered&& other) noexcept : one_(std::exchange(other.one_, nullptr)) {}
  gathered& operator=(gathered&&) = delete;
  ~gathered() {
    if (one_) one_.destroy();
  }
  // Then it destroys itself at its end.
  void start() noexcept { std::exchange(one_, nullptr).resume(); }

 private:
  std::coroutine_handle<promise_type> one_;
};

inline gathered gather_one(task<> one, gathering& all) {
  try {
    auto running = std::move(one);
    co_await std::move(running);
  } catch (...) {
    if (!all.failed.exchange(true)) all.first = std::current_exception();
  }
  all.ended();
}

}  // namespace detail

/// Runs a task on the calling thread and returns what it returns, or throws what it throws.
///
/// The thread itself does the I/O of what it waits for. So this is the fast way to run many
/// coroutines on one thread. An operation may have been started meanwhile that nobody waits for (a
/// coroutine of another type). It must have ended or been destroyed when this returns, since it
/// would be resumed here.
///
/// Thread safety: may be called from any thread but a client's callback thread. There it throws
/// `failure{errc::would_deadlock}` before anything has run.
template <typename T>
T sync_wait(task<T> work) {
  detail::wait_state<T> state;
  detail::run_for(std::move(work), state);
  state.executor.run_until(state.end.reached);
  if (state.thrown) std::rethrow_exception(state.thrown);
  if constexpr (!std::is_void_v<T>) return std::move(*state.value);
}

/// Runs tasks concurrently and ends when all have ended; then throws the first exception, if any.
/// If there is no memory for all of them, none begins.
/// Thread safety: the tasks may end on any threads.
inline task<> when_all(std::vector<task<>> tasks) {
  // One more than there are tasks: the waiter is resumed only after all have been started.
  detail::gathering all{tasks.size() + 1, false, nullptr, nullptr};
  std::vector<detail::gathered> made;
  made.reserve(tasks.size());
  for (auto& one : tasks) made.push_back(detail::gather_one(std::move(one), all));
  struct start_all {
    std::vector<detail::gathered>& made;
    detail::gathering& all;
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiting) const {
      all.waiting = waiting;
      for (auto& one : made) one.start();
      return all.missing.fetch_sub(1, std::memory_order_acq_rel) != 1;
    }
    void await_resume() const noexcept {}
  };
  co_await start_all{made, all};
  if (all.first) std::rethrow_exception(all.first);
}

}  // namespace holdfast
