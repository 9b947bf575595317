// Fenced writes and the fence gate.
//
//   client.hpp, fenced_set: "Sets a key of yours, unless a write with a newer token was accepted
//     for it before. Fenced writes of any kind to one key see each other. [...] Throws `failure`:
//     `unsupported` without a token".
//   client.hpp, fenced_eval: "There must be at least one key [...]. The token must be let through
//     for each of the keys."
//   fenced.hpp: "A number as decimal text, a text as it is, a table as JSON; unset for nil and when
//     stale."
//   fence_gate.hpp: "lets no writer through whose token is older than one that was let through
//     before. The first writer is always let through."; last: "The largest token accepted, also
//     when it is this one."
//   client.hpp, raise_floor: "From now on each grant of this lock through this client has a token
//     larger than `last`. [...] If the token is ten seconds or more ahead of the server's clock,
//     and of its counter, acquisitions fail with `clock_skew`"
#include <map>

#include <holdfast/fence_gate.hpp>

#include "reference/kinds.hpp"

namespace holdfast::reference {
namespace {

constexpr sentence newer{
    "include/holdfast/client.hpp, fenced_set",
    "Sets a key of yours, unless a write with a newer token was accepted for it "
    "before. Fenced writes of any kind to one key see each other"};
constexpr sentence each_key{"include/holdfast/client.hpp, fenced_eval",
                            "The token must be let through for each of the keys"};
constexpr sentence replies{"include/holdfast/fenced.hpp",
                           "A number as decimal text, a text as it is, a table as JSON; unset for "
                           "nil and when stale."};
constexpr sentence gate_says{"include/holdfast/fence_gate.hpp",
                             "lets no writer through whose token is older than one that was let "
                             "through before. The first writer is always let through."};
constexpr sentence raised{"include/holdfast/client.hpp, raise_floor",
                          "From now on each grant of this lock through this client has a token "
                          "larger than `last`"};

constexpr std::uint64_t tokens_in_a_microsecond = 2048;

class fenced_round {
 public:
  explicit fenced_round(run& choices)
      : run_(choices),
        text_("{" + choices.fresh_name() + "}"),
        other_(text_ + "b"),
        hash_(text_ + "h") {}

  void play() {
    for (auto left = run_.between(10, 40); left > 0; --left) {
      switch (run_.below(6)) {
        case 0:
        case 1:
          set();
          break;
        case 2:
          hset();
          break;
        case 3:
          eval();
          break;
        case 4:
          gate();
          break;
        default:
          without_token();
          break;
      }
      const auto seen = run_.on().server().command({"GET", text_});
      run_.expect(seen.text == value_, newer,
                  "the key holds '" + seen.text + "', not '" + value_ + "'");
    }
    floor();
  }

 private:
  const client& any_client() { return run_.of(run_.below(run_.on().clients())); }

  // Around the last ones, and where doubles are not exact.
  fencing_token any_token() {
    if (run_.chance(10)) return fencing_token{~std::uint64_t{0} / 2 - run_.below(3)};
    if (run_.chance(10)) return fencing_token{1 + run_.below(5)};
    return fencing_token{(std::uint64_t{1} << 61) + run_.below(8)};
  }

  bool lets_through(const std::string& key, fencing_token token) {
    if (token < last_[key]) return false;
    last_[key] = token;
    return true;
  }

  void judge(const fence_verdict& got, bool expected, const std::string& key,
             const sentence& promised) {
    run_.expect(got.accepted == expected && got.last == last_[key], promised,
                std::string(got.accepted ? "accepted" : "refused") + ", last " +
                    got.last.to_string() + ", and should be " + last_[key].to_string());
  }

  void set() {
    const auto token = any_token();
    const auto value = std::to_string(++writes_);
    const auto got = any_client().fenced_set(text_, value, token);
    run_.did("fenced_set " + token.to_string() + (got ? ": accepted" : ": refused"));
    const bool expected = lets_through(text_, token);
    if (expected) value_ = value;
    judge(got, expected, text_, newer);
  }

  void hset() {
    const auto token = any_token();
    const auto got = any_client().fenced_hset(hash_, {{"f", std::to_string(++writes_)}}, token);
    run_.did("fenced_hset " + token.to_string() + (got ? ": accepted" : ": refused"));
    const bool expected = lets_through(hash_, token);
    if (expected) field_ = std::to_string(writes_);
    judge(got, expected, hash_, newer);
    const auto seen = run_.on().server().command({"HGET", hash_, "f"});
    run_.expect(seen.text == field_, newer, "the field holds '" + seen.text + "'");
  }

  void eval() {
    struct script {
      const char* body;
      std::optional<std::string> reply;
    };
    static const std::vector<script> scripts{
        {"redis.call('SET', KEYS[1], ARGV[1]) return ARGV[1]", "*"},
        {"redis.call('SET', KEYS[1], ARGV[1]) return 9007199254740991", "9007199254740991"},
        {"redis.call('SET', KEYS[1], ARGV[1]) return -42", "-42"},
        {"redis.call('SET', KEYS[1], ARGV[1]) return '9223372036854775807'", "9223372036854775807"},
        {"redis.call('SET', KEYS[1], ARGV[1]) return nil", std::nullopt},
        {"redis.call('SET', KEYS[1], ARGV[1]) return {1, 'a'}", "[1,\"a\"]"}};
    const auto& one = run_.one_of(scripts);
    const bool both = run_.chance(50);
    const auto token = any_token();
    const auto value = std::to_string(++writes_);
    const auto got = any_client().fenced_eval(
        one.body, both ? std::vector{text_, other_} : std::vector{text_}, {value}, token);
    run_.did("fenced_eval " + token.to_string() + (both ? " two keys" : "") +
             (got ? ": accepted " : ": refused ") + got.value.value_or("-"));
    const bool expected = token >= last_[text_] && (!both || token >= last_[other_]);
    if (expected) {
      value_ = value;
      last_[text_] = token;
      if (both) last_[other_] = token;
    }
    const auto& newest = both ? std::max(last_[text_], last_[other_]) : last_[text_];
    run_.expect(got.accepted == expected && got.last == newest, each_key,
                "another verdict, last " + got.last.to_string());
    const auto reply = !expected          ? std::nullopt
                       : one.reply == "*" ? std::optional{value}
                                          : one.reply;
    run_.expect(got.value == reply, replies,
                std::string(one.body) + " replied " + got.value.value_or("nothing"));
  }

  void gate() {
    const auto token = any_token();
    bool written = false;
    const auto got = gate_.admit("disk", token, [&] { written = true; });
    const bool expected = lets_through("the gate", token);
    run_.expect(written == expected, gate_says, "it wrote, or did not, against its verdict");
    judge(got, expected, "the gate", gate_says);
    run_.expect(gate_.last("disk") == last_["the gate"], gate_says, "last() says something else");
    if (!run_.chance(10)) return;
    gate_.forget("disk");
    last_["the gate"] = {};
  }

  void without_token() {
    const auto said = outcome_of_call([&] { (void)any_client().fenced_set(text_, "none", {}); });
    const auto gate = outcome_of_call([&] { (void)gate_.admit("disk", {}); });
    run_.expect(said == "unsupported" && gate == "unsupported", newer,
                "without a token: " + said + ", " + gate);
  }

  void floor() {
    const auto name = run_.fresh_name();
    const auto lock = run_.of(0).mutex(name);
    const auto first = lock.acquire().token().value();
    // Up to an hour ahead: tokens follow the server's microseconds.
    const fencing_token last{first + run_.below(std::uint64_t{3'600} * 1'000'000)};
    run_.of(0).raise_floor(name, last);
    const auto time = run_.on().server().command({"TIME"}).items;
    const auto now = std::stoull(time.at(0).text) * 1'000'000 + std::stoull(time.at(1).text);
    const bool may_be_refused = last.value() / tokens_in_a_microsecond + 1 >= now + 10'000'000;
    auto got = lock.try_acquire({.timeout = milliseconds{30'000}});
    run_.did("raise_floor " + last.to_string() + ": " + outcome_of(got));
    if (may_be_refused && outcome_of(got) == "clock_skew") return;
    run_.expect(static_cast<bool>(got), raised, "acquiring said " + outcome_of(got));
    const auto next = got->token();
    (void)got->release();
    run_.expect(next > last, raised, "after " + last.to_string() + " came " + next.to_string());
    const auto others = run_.of(1).mutex(name).acquire().token();
    run_.expect(others > next, raised, "and then " + others.to_string());
  }

  run& run_;
  const std::string text_, other_, hash_;
  std::map<std::string, fencing_token> last_;
  std::string value_, field_;
  std::uint64_t writes_ = 0;
  fence_gate gate_;
};

}  // namespace

void play_fenced(run& choices) { fenced_round(choices).play(); }

}  // namespace holdfast::reference
