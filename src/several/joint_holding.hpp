// Several locks that are held as one.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <holdfast/all_of.hpp>

#include "base/mutex.hpp"
#include "redis/locks/joint_request.hpp"
#include "runtime/client_core.hpp"
#include "runtime/holding.hpp"
#include "several/gathered.hpp"

namespace holdfast::several {

class joint_holding final : public runtime::holding,
                            public std::enable_shared_from_this<joint_holding> {
 public:
  joint_holding(std::string name, const lock_list& wanted, const std::vector<runtime::grant>& got);
  ~joint_holding() override;

  const std::string& name() const noexcept override { return name_; }
  bool held() const noexcept override;
  lease_mode mode() const noexcept override { return lease_mode::several; }
  nanoseconds remaining() const noexcept override;
  std::stop_token lost() override;
  result<void> extend(milliseconds duration) override;
  bool set_note(std::string_view) noexcept override { return false; }
  void tell_own_locks(const runtime::engine& of, std::uint64_t token,
                      const telling& tell) const override;

  bool give_back(const runtime::listener& who) override;
  result<void> take_released() override;
  result<void> give_back_and_wait() override;

  std::vector<held_part> list() const;

 private:
  struct part;
  struct loss;
  using loss_callback = std::unique_ptr<std::stop_callback<loss>>;

  static bool share_a_command(const part& a, const part& b);
  static std::unique_ptr<redis_locks::joint_request> command_for_all(
      std::size_t parts, runtime::engine& where) noexcept;
  void give_parts_back(const runtime::listener& who);
  void gone() noexcept;
  void forget_losses();

  const std::string name_;
  const std::shared_ptr<runtime::client_core> core_;
  std::vector<std::unique_ptr<part>> parts_;
  std::shared_ptr<joint_holding> self_;
  runtime::listener who_;
  std::atomic<std::size_t> left_{0};
  mutex mutex_;
  std::stop_source lost_;
  std::vector<loss_callback> losses_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::several
