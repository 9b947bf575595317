// Locks in a Boost.Asio program: with a future, in an asio::awaitable, and with a callback.
#include <chrono>
#include <iostream>
#include <stop_token>
#include <utility>  // Boost 1.74 forgets it

#include <boost/asio.hpp>

#include <holdfast/asio.hpp>
#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

int turns = 0;

asio::awaitable<void> take_a_turn(holdfast::lock counter) {
  auto lease = co_await holdfast::asio_acquire(counter, {.timeout = 5s}, asio::use_awaitable);
  lease.value();  // throws what went wrong
  std::cout << "coroutine: " << ++turns << ", " << std::flush;
  (co_await holdfast::asio_release(std::move(*lease), asio::use_awaitable)).value();
}

}  // namespace

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv)};
  const auto counter = redis.mutex("counter");

  {
    auto lease = holdfast::asio_try_acquire(counter, {}, asio::use_future).get().value();
    std::cout << "future: " << ++turns << ", ";
    // A busy lock and the end of the waiting are values here, too.
    std::stop_source enough;
    auto busy = holdfast::asio_try_acquire(counter, {}, asio::use_future);
    auto waiting =
        holdfast::asio_acquire(counter, {.timeout = 5s}, asio::use_future, enough.get_token());
    enough.request_stop();
    if (busy.get().error().reason() != holdfast::errc::busy) return 1;
    if (waiting.get().error().reason() != holdfast::errc::cancelled) return 1;
    holdfast::asio_release(std::move(lease), asio::use_future).get().value();
  }

  asio::io_context context;
  asio::co_spawn(context, take_a_turn(counter), asio::detached);
  context.run();

  context.restart();
  holdfast::asio_acquire(
      counter, {.timeout = 5s},
      asio::bind_executor(context.get_executor(), [](holdfast::result<holdfast::lease> lease) {
        if (lease) std::cout << "callback: " << ++turns << '\n';
      }));
  context.run();
  return turns == 3 ? 0 : 1;
}
