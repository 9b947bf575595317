#include "runtime/reporter.hpp"

#include <exception>
#include <new>
#include <string>

#include "base/printable.hpp"
#include "base/uncancelled.hpp"
#include "runtime/log_line.hpp"

namespace holdfast::runtime {

// Keeps the texts of an event until it is told.
class reporter::notice final : public detail::completion {
 public:
  notice(const reporter& by, const event& what)
      : by_(by), name_(what.name), server_(what.server), detail_(what.detail), what_(what) {
    what_.name = name_;
    what_.server = server_;
    what_.detail = detail_;
  }
  void complete() noexcept override {
    const std::unique_ptr<notice> self(this);
    by_.tell(what_);
  }

 private:
  const reporter& by_;
  const std::string name_, server_, detail_;
  event what_;
};

std::unique_ptr<const reporter> reporter::of(const client_options& options,
                                             callback_thread& there) {
  if (!options.observer && !options.log) return nullptr;
  return std::unique_ptr<const reporter>(new reporter(options, there));
}

reporter::reporter(const client_options& options, callback_thread& there)
    : observer_(options.observer), log_(options.log), callbacks_(there) {}

// Neither what they throw, nor a thread that is cancelled in them, may come to where this is
// called.
void reporter::tell(const event& what) const noexcept {
  const uncancelled meanwhile;
  if (observer_) {
    try {
      observer_->on(what);
    } catch (const std::exception& thrown) {
      write(log_level::error, thrown.what());
    } catch (...) {
      write(log_level::error, "something that is no std::exception");
    }
  }
  if (!log_) return;
  try {
    if (const auto line = line_of(what)) log_(line->level, line->text);
  } catch (...) {  // there is nobody who could be told
  }
}

void reporter::write(log_level level, std::string_view thrown) const noexcept {
  if (!log_) return;
  try {
    log_(level, "the observer of this client has thrown: " + printable(thrown));
  } catch (...) {
  }
}

void reporter::post(const event& what) const noexcept {
  try {
    callbacks_.post(*new notice{*this, what});
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace holdfast::runtime
