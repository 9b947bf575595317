// A report each hour, on one of many hosts, and mails that somebody else has not sent lately.
#include <chrono>
#include <iostream>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

namespace {

using namespace std::chrono_literals;

bool send(holdfast::fencing_token token) { return static_cast<bool>(token); }

}  // namespace

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv)};
  int reports = 0;
  // [snippet job]
  const auto report = redis.once_per("report", {.interval = 1h});
  const bool ran = holdfast::call_once(report, [&] { ++reports; });
  const bool again = holdfast::call_once(report, [&] { ++reports; });  // false: it has run
  // [snippet end]

  const auto mails = redis.once_per("mails", {.at_least_for = 50s});
  // [snippet by_hand]
  auto run = mails.try_begin({.timeout = 10s});  // a lease, has_run, timed_out, ...
  if (run) {
    const bool sent = send(run->token());
    mails.finish(*run, sent ? holdfast::run_end::succeeded : holdfast::run_end::failed).value();
  }
  // [snippet end]
  const auto second = mails.try_begin();
  std::cout << reports << " report, mails " << (run ? "sent" : "left")
            << ", 1 answer: " << holdfast::name_of(second.error().reason()) << '\n';
  return ran && reports >= 1 && (again ? reports == 2 : reports == 1) ? 0 : 1;
}
