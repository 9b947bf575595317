// A service that answers twenty times a second, and does not like to be asked more often.
#include <iostream>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv)};
  int sent = 0;

  // [snippet rate]
  const auto calls = redis.rate_limiter("geocoder", {.rate = 20, .burst = 5});
  for (; sent < 8; ++sent) calls.acquire();  // waits for the last three

  const auto one_more = calls.try_acquire(3);  // does not wait
  if (!one_more) std::cout << "three in " << one_more.wait.count() / 1000 << " ms, ";
  // [snippet end]
  std::cout << sent << " sent\n";
  return one_more ? 1 : 0;
}
