// A managed service as its clients see it: one name, and behind it two servers that change roles.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "support/fault_proxy.hpp"
#include "support/private_server.hpp"

namespace holdfast::soak {

// Thread safety: strikes are one thread's, the rest is any thread's.
class deployment {
 public:
  explicit deployment(const std::string& program);  // throws std::runtime_error

  const std::string& url() const noexcept { return url_; }

  // After a while, one of the troubles of networks and servers, chosen by `dice`; all is well again
  // when it is back. None loses a key: those of a failover are handed over first. Returns its name.
  const char* strike(unsigned dice);

 private:
  struct place {
    std::string address;
    std::optional<support::private_server> server;
    std::optional<support::fault_proxy> line;  // what clients connect to
  };

  void start(place& one, const std::string& program, std::vector<std::string> arguments);
  place& master() { return places_[master_]; }
  place& replica() { return places_[1 - master_]; }
  void hand_over();
  void freeze(place& one, milliseconds length);
  void wait_for_replica();

  place places_[2] = {{"127.0.0.2", {}, {}}, {"127.0.0.3", {}, {}}};
  std::size_t master_ = 0;
  std::string url_;
};

}  // namespace holdfast::soak
