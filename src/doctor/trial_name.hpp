// The name of the locks that a diagnosis tries.
#pragma once

#include <atomic>
#include <string>

#include "base/request_id.hpp"

namespace holdfast::doctor {

// Each such lock draws at the fence counter of its hash slot, which stays for ever. So a client
// that is diagnosed again and again has one name. A diagnosis beside another has one of its own.
class trial_name {
 public:
  trial_name(const client_id& client, const request_id& diagnosis)
      : text_("holdfast doctor " + (under_way_.fetch_add(1) == 0
                                        ? std::string(client.text().substr(0, shown_client_digits))
                                        : diagnosis.shortened())) {}
  ~trial_name() { under_way_.fetch_sub(1); }
  trial_name(const trial_name&) = delete;
  trial_name& operator=(const trial_name&) = delete;

  const std::string& text() const noexcept { return text_; }

 private:
  static inline std::atomic<int> under_way_{0};

  const std::string text_;
};

}  // namespace holdfast::doctor
