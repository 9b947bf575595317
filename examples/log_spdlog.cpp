// A service writes what it should know of its locks into the log that it has: spdlog.
#include <iostream>
#include <memory>
#include <string_view>
#include <utility>

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

namespace {

// [snippet spdlog]
spdlog::level::level_enum level_of(holdfast::log_level level) {
  switch (level) {
    case holdfast::log_level::info:
      return spdlog::level::info;
    case holdfast::log_level::warning:
      return spdlog::level::warn;
    case holdfast::log_level::error:
      return spdlog::level::err;
  }
  return spdlog::level::warn;  // one that a later version has
}

// The logger must have a sink for several threads (`_mt`): the client logs on threads of its own.
holdfast::client_options logging_to(std::shared_ptr<spdlog::logger> logger) {
  holdfast::client_options options;
  options.log = [logger = std::move(logger)](holdfast::log_level level, std::string_view line) {
    logger->log(level_of(level), "{}", line);  // names of locks may have braces
  };
  return options;
}
// [snippet end]

}  // namespace

int main(int argc, char** argv) {
  const auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(std::cout, true);
  const auto logger = std::make_shared<spdlog::logger>("locks", sink);
  logger->set_pattern("[%n] [%l] %v");
  const holdfast::client redis{server_url(argc, argv), logging_to(logger)};

  auto held = redis.mutex("orders:{4711}").acquire();
  holdfast::inspector{redis}.break_lock("orders:{4711}", "to show what is logged");
  const auto released = held.release();  // finds that the lock is lost, and logs that
  return !released && released.error().reason() == holdfast::errc::lost ? 0 : 1;
}
