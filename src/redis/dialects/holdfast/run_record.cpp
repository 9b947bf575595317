#include "redis/dialects/holdfast/run_record.hpp"

#include "base/number.hpp"
#include "holdfast_scripts.hpp"

namespace holdfast::dialects {
namespace {

once_call call(const value_key& record, const run_rule& rule, std::string_view what,
               std::string token, server_time asked) {
  return {scripts::holdfast_run_record,
          record.slot,
          {record.key},
          {std::string{what}, std::move(token), std::to_string(rule.interval.count()),
           std::to_string(rule.offset.count()), std::to_string(rule.at_least.count()),
           std::string{rule.again}, std::to_string(asked.time_since_epoch().count())}};
}

}  // namespace

once_call look_for_run(const value_key& record, const run_rule& rule, server_time asked) {
  return call(record, rule, "look", "0", asked);
}

once_call begin_run(const value_key& record, const run_rule& rule, fencing_token token,
                    server_time asked) {
  return call(record, rule, "begin", token.to_string(), asked);
}

once_call end_run(const value_key& record, const run_rule& rule, fencing_token token,
                  std::string_view how) {
  return call(record, rule, how, token.to_string(), {});
}

run_verdict read_run(const value_key& record, const once_answer& answer) {
  if (answer.word == "free" || answer.word == "begun" || answer.word == "ended") return may_run{};
  if (answer.word == "stale") return run_is_stale{};
  if (answer.word == "foreign") return not_a(record, "record of a run");
  const std::string_view rest = answer.rest;
  const auto space = rest.find(' ');
  const auto began = parse_number<std::int64_t>(rest.substr(0, space));
  if (answer.word == "ran" && began && space != rest.npos) {
    return has_run{server_time{microseconds{*began}}, std::string{rest.substr(space + 1)}};
  }
  return unknown_answer(answer);
}

}  // namespace holdfast::dialects
