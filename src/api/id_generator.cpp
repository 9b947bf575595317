#include <holdfast/client.hpp>
#include <holdfast/id_generator.hpp>
#include <mutex>
#include <utility>

#include "calls/idempotent_call.hpp"
#include "dialects/holdfast/counter.hpp"

namespace holdfast {

class id_generator::state {
 public:
  state(std::shared_ptr<runtime::client_core> core, std::string_view name, std::uint32_t block)
      : core_(std::move(core)),
        key_(core_->engine().space(), "ids", name),
        name_(name),
        block_(block) {}

  const std::string& name() const noexcept { return name_; }

  std::int64_t next() {
    core_->check_process();  // a forked child has the same block
    // Also for the mutex: those who wait behind a caller that gets no answer do not wait anew.
    const auto within = calls::usual_bound(*core_);
    const std::lock_guard lock(guard_);
    if (last_ == end_) fetch(within);
    return ++last_;
  }

 private:
  void fetch(const runtime::bound& within) {
    for (;;) {
      const auto [added, value] = change(dialects::counter_add_from(key_, block_, end_), within);
      if (added) {
        last_ = value - block_;
        end_ = value;
        return;
      }
      // The server has lost ids that we gave out.
      change(dialects::counter_compare_and_set(key_, value, end_), within);
    }
  }

  dialects::counted change(const dialects::once_call& asked, const runtime::bound& within) {
    return calls::accept(dialects::read_counted(key_, calls::ask_once(*core_, asked, within)));
  }

  const std::shared_ptr<runtime::client_core> core_;
  const dialects::value_key key_;
  const std::string name_;
  const std::int64_t block_;
  std::mutex guard_;
  std::int64_t last_ = 0;  // given out
  std::int64_t end_ = 0;   // of the block
};

id_generator client::id_generator(std::string_view name, id_options options) const {
  if (options.block < 1 || options.block > 1'000'000'000) {
    throw failure{errc::invalid_argument, "block must be 1 to a thousand million"};
  }
  return holdfast::id_generator{
      std::make_shared<holdfast::id_generator::state>(core_, name, options.block)};
}

const std::string& id_generator::name() const noexcept { return state_->name(); }

std::int64_t id_generator::next() const { return state_->next(); }

}  // namespace holdfast
