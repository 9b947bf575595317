// Several locks as one that can be acquired.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/lock_source.hpp"
#include "several/gathered.hpp"

namespace holdfast::runtime {
class local_lock;
}

namespace holdfast::several {

class all_of_source final : public runtime::lock_source {
 public:
  explicit all_of_source(lock_list parts);

  const std::string& name() const noexcept override { return name_; }
  lock_kind kind() const noexcept override { return lock_kind::several; }
  const lock_list& parts() const noexcept { return *parts_; }

  runtime::acquired wait(leasing::patience patience, std::stop_token stop) override;
  std::unique_ptr<runtime::acquisition> ask() override;

 private:
  const std::shared_ptr<const lock_list> parts_;
  const std::string name_;
  // Of the parts, where one command can ask for all of them; else empty.
  const std::vector<runtime::local_lock*> locals_;
};

}  // namespace holdfast::several
