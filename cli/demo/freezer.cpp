#include "cli/demo/freezer.hpp"

namespace holdfast::cli::demo {
namespace {

constexpr int late_writes = 3;  // spread over the sale
constexpr std::int64_t longest_freeze_us = 10'000'000;
constexpr std::int64_t longest_deleting_us = 1'000'000;
constexpr std::int64_t patience_us = 30'000'000;  // after which nobody is frozen any more

}  // namespace

freezer::freezer(stock_store& store, scenario what, std::int64_t units)
    : store_(store), what_(what), units_(units), began_us_(now_us()) {
  if (what != scenario::setnx && what != scenario::fenced) return;
  store.order_freeze();
  enter(stage::ordered);
}

void freezer::look(crew& workers) {
  if (stage_ == stage::done) return;
  what_ == scenario::setnx ? look_for_deletion(workers) : look_for_late_write(workers);
}

// A holder is frozen until somebody else has sold: then its own write is late.
void freezer::look_for_late_write(crew& workers) {
  if (stage_ == stage::resting && store_.stock() <= units_ - units_ * freezes_ / late_writes) {
    return begin_again(workers);
  }
  if (workers.frozen() == 0) return;
  if (stage_ == stage::ordered) {
    recorded_ = store_.recorded();
    return enter(stage::first_frozen);
  }
  if (store_.recorded() == recorded_ && !waited(longest_freeze_us)) return;
  ++freezes_;
  workers.thaw_all();
  enter(freezes_ < late_writes ? stage::resting : stage::done);
}

// A holder is frozen until its key has expired and a second buyer is inside with a key of its own;
// there the second is frozen, too. The first is thawed and deletes the key of the second; a third
// buyer enters beside the second.
void freezer::look_for_deletion(crew& workers) {
  switch (stage_) {
    case stage::ordered:
      if (workers.frozen() == 0) return;
      first_ = store_.holder();
      store_.order_freeze();  // for the next one
      return enter(stage::first_frozen);
    case stage::first_frozen:
      return on_first_frozen(workers);
    case stage::deleting:
      return on_deleting(workers);
    case stage::resting:
    case stage::done:
      return;
  }
}

void freezer::on_first_frozen(crew& workers) {
  if (waited(longest_freeze_us)) return begin_again(workers);
  if (workers.frozen() < 2) return;
  second_ = store_.holder();
  if (!second_ || second_ == first_) return;
  deleted_ = store_.counted("foreign");
  freezes_ += 2;
  workers.thaw_first();
  enter(stage::deleting);
}

void freezer::on_deleting(crew& workers) {
  if (store_.counted("foreign") > deleted_) {
    const auto third = store_.holder();
    saw_two_inside_ = third && third != second_;
  }
  if (!saw_two_inside_) {
    // The key of the second may have expired just before it could be deleted.
    if (waited(longest_deleting_us)) begin_again(workers);
    return;
  }
  workers.thaw_all();
  enter(stage::done);
}

void freezer::enter(stage next) {
  stage_ = next;
  stage_since_us_ = now_us();
}

void freezer::begin_again(crew& workers) {
  workers.thaw_all();
  if (now_us() - began_us_ > patience_us) return enter(stage::done);
  store_.order_freeze();
  enter(stage::ordered);
}

bool freezer::waited(std::int64_t microseconds) const {
  return now_us() - stage_since_us_ > microseconds;
}

}  // namespace holdfast::cli::demo
