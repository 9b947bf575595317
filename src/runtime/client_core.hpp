// Shared by the user's handles: the engine lives as long as any of them.
#pragma once

#include <memory>
#include <string>

#include "runtime/engine.hpp"

namespace holdfast::runtime {

class client_core {
 public:
  // `server`: another object that must live as long (an embedded server); may be null.
  client_core(std::unique_ptr<runtime::engine> engine, std::string url,
              std::shared_ptr<void> server);

  // Closes the client. In the child of a fork it lets everything lie: threads and locks of the
  // parent do not exist here, only their memory does.
  ~client_core();

  runtime::engine& engine() noexcept { return *engine_; }
  const std::string& url() const noexcept { return url_; }

  // Throws failure{errc::forked} in the child of a fork.
  void check_process() const;

 private:
  std::unique_ptr<runtime::engine> engine_;
  std::string url_;
  std::shared_ptr<void> server_;
};

}  // namespace holdfast::runtime
