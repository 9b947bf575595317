// What README.md shows, compiled and run.
#include <chrono>
#include <iostream>
#include <stop_token>
#include <string>

#include <holdfast/holdfast.hpp>

namespace {

using namespace std::chrono_literals;

// A resource that refuses late writers, as a database can with a condition on the token.
class stock {
 public:
  void deduct(int units, holdfast::fencing_token token) {
    if (token < newest_) throw holdfast::failure(holdfast::errc::lost, "a newer owner wrote");
    newest_ = token;
    units_ -= units;
  }
  int units() const { return units_; }

 private:
  int units_ = 10;
  holdfast::fencing_token newest_;
};

bool rebuild(const std::stop_token& lost) { return !lost.stop_requested(); }

}  // namespace

int main(int argc, char** argv) {
  const std::string url = argc > 1 ? argv[1] : "embedded:";
  stock stock;
  bool rebuilt = false;

  // [snippet locks]
  holdfast::client redis{url};  // "redis://localhost:6379", "unix:///run/redis.sock", "embedded:"
  {
    auto lease = redis.mutex("orders:42").acquire();  // held, or throws
    stock.deduct(3, lease.token());                   // a late writer's token is refused
  }                                                   // released, whatever happened

  auto nightly = redis.mutex("nightly", {.lease = 10s});  // renewed while we live
  if (auto lease = nightly.try_acquire({.timeout = 2s})) {
    rebuilt = rebuild(lease->lost());  // a std::stop_token: fires before the lease can end
  } else {
    std::cerr << lease.error().what() << '\n';  // "busy" and "timed out" are values
  }
  // [snippet end]
  return stock.units() == 7 && rebuilt ? 0 : 1;
}
