// Freezes holders in the middle of their work, as paging, a suspended machine or a garbage
// collector does.
#pragma once

#include "cli/demo/crew.hpp"
#include "cli/demo/stock_store.hpp"

namespace holdfast::cli::demo {

// A holder stops itself (SIGSTOP) when the store has an order for it, and is thawed when the server
// shows that what can go wrong has begun. Nothing is timed but giving up.
class freezer {
 public:
  freezer(stock_store& store, scenario what, std::int64_t units);

  void look(crew& workers);

  int freezes() const { return freezes_; }
  bool saw_two_inside() const { return saw_two_inside_; }

 private:
  enum class stage { resting, ordered, first_frozen, deleting, done };

  void look_for_late_write(crew& workers);
  void look_for_deletion(crew& workers);
  void on_first_frozen(crew& workers);
  void on_deleting(crew& workers);
  void enter(stage next);
  void begin_again(crew& workers);
  bool waited(std::int64_t microseconds) const;

  stock_store& store_;
  const scenario what_;
  const std::int64_t units_;
  stage stage_ = stage::done;
  std::int64_t began_us_;
  std::int64_t stage_since_us_ = 0;
  std::int64_t recorded_ = 0;          // when the first was frozen
  std::int64_t deleted_ = 0;           // keys of others, when the first was thawed
  std::optional<std::string> first_;   // the owner in the lock when the first was frozen
  std::optional<std::string> second_;  // and when it was thawed
  int freezes_ = 0;
  bool saw_two_inside_ = false;
};

}  // namespace holdfast::cli::demo
