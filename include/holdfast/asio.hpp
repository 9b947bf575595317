/// \file
/// The optional bridge to Boost.Asio (1.74 or later): locks as asynchronous operations with any
/// completion token. Not part of `holdfast/holdfast.hpp`; the library itself does not need Boost.
///
/// `asio::awaitable` awaits only what Asio knows, hence this bridge:
///
///     auto lease = co_await holdfast::asio_acquire(orders, {.timeout = 5s}, asio::use_awaitable);
///
/// The completion handler is posted to its associated executor, never run by the initiating
/// function. Until then the executor has outstanding work, so `io_context::run()` goes on. The
/// execution context must live as long.
///
/// A bridge to another asynchronous world is written in the same way: a coroutine awaits one of the
/// verbs, and hands on what came of it. Nothing here needs more than what `lock` and `lease` offer.
#pragma once

#include <stop_token>
#include <utility>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/version.hpp>

#if BOOST_ASIO_VERSION >= 101900  // Boost 1.77
#include <boost/asio/associated_cancellation_slot.hpp>
#endif

#include <holdfast/lock.hpp>
#include <holdfast/task.hpp>

namespace holdfast {

namespace detail {

// Stops for the first that asks: the caller's stop token or the handler's cancellation slot.
class asio_stop {
 public:
  template <typename Handler>
  asio_stop(std::stop_token callers, [[maybe_unused]] const Handler& handler)
      : either_(), forward_(std::move(callers), request{either_}) {
#if BOOST_ASIO_VERSION >= 101900
    auto slot = boost::asio::get_associated_cancellation_slot(handler);
    if (slot.is_connected()) slot.assign(request{either_});
#endif
  }

  [[nodiscard]] std::stop_token token() const noexcept { return either_.get_token(); }

 private:
  // Keeps the stop state alive, so that a signal emitted after the end does no harm.
  struct request {
    std::stop_source stopped;
    template <typename... CancellationType>
    void operator()(CancellationType...) noexcept {
      stopped.request_stop();
    }
  };

  std::stop_source either_;
  std::stop_callback<request> forward_;
};

template <typename Handler, typename Outcome>
void asio_post(Handler&& handler, Outcome&& outcome) {
  const auto executor = boost::asio::get_associated_executor(handler);
  boost::asio::post(executor, [to = std::move(handler), what = std::move(outcome)]() mutable {
    std::move(to)(std::move(what));
  });
}

enum class asio_verb { acquire, try_acquire };

// The frames of these coroutines are what an operation keeps on the heap until its handler runs.
// Their parameters outlive `work`, and so maybe the context and what its owner has: the lock and
// the lease are moved to where they end before the handler is posted.
template <typename Handler>
detached asio_acquire_then(Handler handler, lock target, acquire_options options,
                           std::stop_token callers, asio_verb verb) {
  const auto work = boost::asio::make_work_guard(handler);
  const asio_stop stop{std::move(callers), handler};
  result<lease> outcome = errc::cancelled;
  try {
    const lock wanted = std::move(target);
    if (verb == asio_verb::acquire) {
      outcome = co_await wanted.async_acquire(options, stop.token());
    } else {
      outcome = co_await wanted.async_try_acquire(options, stop.token());
    }
  } catch (const failure& refused) {
    outcome = refused;
  }
  asio_post(std::move(handler), std::move(outcome));
}

template <typename Handler>
detached asio_release_then(Handler handler, lease held) {
  const auto work = boost::asio::make_work_guard(handler);
  result<void> outcome;
  try {
    lease mine = std::move(held);
    outcome = co_await mine.async_release();
  } catch (const failure& refused) {
    outcome = refused;
  }
  asio_post(std::move(handler), std::move(outcome));
}

template <typename Token>
auto asio_acquire(lock target, acquire_options options, std::stop_token stop, asio_verb verb,
                  Token& token) {
  return boost::asio::async_initiate<Token, void(result<lease>)>(
      [](auto handler, lock to_get, acquire_options how, std::stop_token until, asio_verb by) {
        asio_acquire_then(std::move(handler), std::move(to_get), how, std::move(until), by);
      },
      token, std::move(target), options, std::move(stop), verb);
}

}  // namespace detail

/// Waits for a lock as `lock::acquire` does. Completes with a `result<lease>`, also for what
/// `acquire` throws. Every kind of cancellation of the handler's slot (Boost 1.77 or later) ends
/// the waiting with `errc::cancelled`, as `stop` does.
/// Thread safety: may be called from any thread.
template <typename CompletionToken>
auto asio_acquire(lock target, acquire_options options, CompletionToken&& token,
                  std::stop_token stop = {}) {
  return detail::asio_acquire(std::move(target), options, std::move(stop),
                              detail::asio_verb::acquire, token);
}

/// As `asio_acquire`, for `lock::try_acquire`: an unset timeout asks once. Thread safety: may be
/// called from any thread.
template <typename CompletionToken>
auto asio_try_acquire(lock target, acquire_options options, CompletionToken&& token,
                      std::stop_token stop = {}) {
  return detail::asio_acquire(std::move(target), options, std::move(stop),
                              detail::asio_verb::try_acquire, token);
}

/// Releases a lease as `lease::async_release` does. Completes with a `result<void>`.
/// Thread safety: may be called from any thread; the lease is given away.
template <typename CompletionToken>
auto asio_release(lease held, CompletionToken&& token) {
  return boost::asio::async_initiate<CompletionToken, void(result<void>)>(
      [](auto handler, lease given) {
        detail::asio_release_then(std::move(handler), std::move(given));
      },
      token, std::move(held));
}

}  // namespace holdfast
