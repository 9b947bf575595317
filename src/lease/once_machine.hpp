// One request that the server must execute at most once. No clock, socket or thread.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "lease/step.hpp"
#include "substrate/once_verdict.hpp"

namespace holdfast::leasing {

//   what came                       | and another copy is unanswered
//   answer        done              | done: all copies get the same one
//   late          again (1)         | failed
//   refused       failed            | failed
//   no answer     again (2)         | again (2)
//
// (1) With another not-after, since no copy can be executed under the first one.
// (2) Failed where asking again is no use: the server has never been reached, or forbids it. After
// `give_up_at` failed instead of again. The failure says when the request may have been executed.
class once_machine {
 public:
  explicit once_machine(monotonic_time give_up_at) noexcept : give_up_at_(give_up_at) {}

  // Of the copy that is sent now. All copies carry the same: the server remembers the answer until
  // then. And no copy is executed after `give_up_at`. Far future while the server's time is not
  // known.
  server_time not_after(moment now) noexcept;

  // The result of the copy. Nothing: send it again.
  using end = std::variant<substrate::once_answer, outcome>;
  std::optional<end> on_verdict(substrate::once_verdict verdict, monotonic_time now);
  std::optional<outcome> on_missing(no_answer how, outcome why, monotonic_time now);

 private:
  outcome failed(outcome why) const;

  monotonic_time give_up_at_;
  std::optional<server_time> not_after_;
  bool doubtful_ = false;  // a copy was sent whose answer never came
};

}  // namespace holdfast::leasing
