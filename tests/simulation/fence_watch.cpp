// Two keys that are written under tokens of 18 to 19 digits, one alone or both at once.
#include <algorithm>
#include <map>

#include "base/lock_key.hpp"
#include "base/number.hpp"
#include "redis/dialects/holdfast/fenced.hpp"
#include "simulation/gate_world.hpp"
#include "simulation/value_watches.hpp"

namespace holdfast::simulation::gates {
namespace {

class fence_watch final : public change_watch {
 public:
  using change_watch::change_watch;

  bool lasts(std::string_view key) const override {
    return std::ranges::any_of(keys_, [&](const auto& one) { return key.ends_with(one); });
  }
  std::vector<resp::script> scripts() const override { return {script_.script()}; }

  // Mostly a token that is newer than all, otherwise one that is not.
  dialects::once_call draw(const std::string& request) override {
    auto& dice = in().chance();
    const auto token = dice.chance(70) ? ++newest_ : newest_ - dice.up_to(20);
    write what{.token = token, .keys = {}};
    for (const auto& key : keys_) {
      if (dice.chance(60)) what.keys.push_back(key);
    }
    if (what.keys.empty()) what.keys.push_back(keys_.front());
    writes_[request] = what;
    return dialects::fenced_write(key_space{}, script_, what.keys, {request}, fencing_token{token});
  }

 private:
  struct write {
    std::uint64_t token = 0;
    std::vector<std::string> keys;
  };

  std::string token_key(const std::string& of) const {
    return "hf:fenced:{" + slot_tag(hash_slot(of)) + "}:" + of;
  }

  // `<token>=<value> ` of each key.
  std::string look() override {
    std::string all;
    tokens_.swap(tokens_before_);
    for (const auto& key : keys_) {
      const auto token = text_at(token_key(key));
      tokens_[key] = parse_number<std::uint64_t>(token).value_or(0);
      all += token + "=" + text_at(key) + " ";
    }
    return all;
  }

  void done(const std::string& request, const substrate::once_answer& answer,
            const std::string& after) override {
    const auto& [token, keys] = writes_.at(request);
    const auto stale = std::ranges::find_if(
        keys, [&, own = token](const auto& key) { return tokens_before_[key] > own; });
    if (stale != keys.end()) {
      if (after != before()) in().violated("F: a stale write was taken");
      if (answer.word != "stale" || answer.rest != std::to_string(tokens_before_[*stale])) {
        in().violated("F: a stale write was answered " + answer.word + " " + answer.rest);
      }
      return;
    }
    if (answer.word != "done") in().violated("F: a write was answered " + answer.word);
    for (const auto& key : keys) {
      if (text_at(key) != request) in().violated("F: what was taken is not there");
      if (tokens_[key] != token)
        in().violated("F: the token of a write that was taken is not there");
    }
  }

  const std::vector<std::string> keys_{"{page}:1", "{page}:2"};
  const dialects::composed_script script_ =
      dialects::fenced_script("for i = 1, #KEYS do redis.call('SET', KEYS[i], ARGV[1]) end");
  std::uint64_t newest_ = 999'999'999'999'999'900;
  std::map<std::string, std::uint64_t> tokens_, tokens_before_;  // that look() saw, now and before
  std::map<std::string, write, std::less<>> writes_;
};

}  // namespace

std::shared_ptr<change_watch> watch_fenced_write(world& of) {
  return std::make_shared<fence_watch>(of);
}

}  // namespace holdfast::simulation::gates
