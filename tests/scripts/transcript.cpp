#include "scripts/transcript.hpp"

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "holdfast_scripts.hpp"

namespace holdfast::dialects {
namespace {

constexpr long long start = 1'700'000'000'000'000;  // T, in us
constexpr std::size_t shown_at_most = 400;

// Returns {key, content, ms left, key, content, ms left, ...}.
const std::string everything = R"lua(
local all = {}
local function joined(items, between)
  local parts = {}
  for i = 1, #items, 2 do parts[#parts + 1] = items[i] .. between .. items[i + 1] end
  if between == '=' then table.sort(parts) end
  return table.concat(parts, ' ')
end
for _, key in ipairs(redis.call('KEYS', '*')) do
  local kind = redis.call('TYPE', key).ok
  local content = kind == 'string' and '"' .. redis.call('GET', key) .. '"'
    or kind == 'hash' and joined(redis.call('HGETALL', key), '=')
    or kind == 'zset' and joined(redis.call('ZRANGE', key, 0, -1, 'WITHSCORES'), '@')
    or kind == 'list' and table.concat(redis.call('LRANGE', key, 0, -1), ', ')
    or kind == 'set' and table.concat(redis.call('SORT', key, 'ALPHA'), ', ')
  all[#all + 1] = key
  all[#all + 1] = content
  all[#all + 1] = redis.call('PTTL', key)
end
return all
)lua";

const resp::script& script_named(const std::string& name) {
  const auto base = name.substr(0, name.find('@'));
  for (const resp::script* script : scripts::all) {
    if (script->name == base) return script->form(base != name);
  }
  throw std::runtime_error("there is no script " + name);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// `T+5` from 1700000000000005, when it is near enough.
std::string with_times(const std::string& text, const std::regex& digits, char name,
                       long long from) {
  std::string result;
  auto rest = text.cbegin();
  for (std::smatch found; std::regex_search(rest, text.cend(), found, digits);
       rest = found[0].second) {
    result.append(rest, found[0].first);
    const long long behind = std::stoll(found.str()) - from;
    const std::string sign = behind > 0 ? "+" : "";
    result += name + (behind == 0 ? "" : sign + std::to_string(behind));
  }
  return result.append(rest, text.cend());
}

}  // namespace

transcript::transcript(const support::private_server& server, support::clock_shim& clock,
                       milliseconds patience)
    : server_(server), clock_(clock), us_(net::unix_endpoint{server.socket()}, patience) {}

bool transcript::clock_stands_still() {
  set_clock(start);
  const auto time = us_.command({"TIME"});
  return time.items.at(0).text == "1700000000" && time.items.at(1).text == "0";
}

bool transcript::knows(const std::string& command) {
  return !us_.command({"COMMAND", "INFO", command}).items.at(0).items.empty();
}

std::vector<transcript::part> transcript::parts_of(const std::string& text) {
  std::vector<part> parts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  ")) {
      parts.back().answer += line + '\n';
    } else {
      parts.push_back({line, {}});
    }
  }
  return parts;
}

std::string transcript::answer_to(const std::string& line) {
  if (line.starts_with("==")) begin();
  const bool says_nothing = line.empty() || line[0] == '#' || line[0] == '=';
  return says_nothing ? std::string{} : step(line);
}

std::string transcript::play(const std::string& text) {
  std::string result;
  for (const auto& each : parts_of(text)) result += each.line + '\n' + answer_to(each.line);
  return result;
}

std::optional<std::string> transcript::first_difference(const std::string& text) {
  names_.clear();
  for (const auto& each : parts_of(text)) {
    if (answer_to(each.line) != each.answer) return each.line;
  }
  return std::nullopt;
}

std::vector<std::string> transcript::scenes_of(const std::string& text) {
  std::vector<std::string> scenes;
  std::string before;
  for (const auto& each : parts_of(text)) {
    if (each.line.starts_with("==")) scenes.push_back(before);
    if (!scenes.empty()) scenes.back() += each.line + '\n' + each.answer;
    const auto word = each.line.substr(0, each.line.find(' '));
    if (word == "keys" || word == "let" || word == "body") before += each.line + '\n';
  }
  return scenes;
}

void transcript::begin() {
  us_.command({"ACL", "SETUSER", "default", "+@all"});
  us_.command({"CONFIG", "SET", "maxmemory", "0"});
  us_.command({"FLUSHALL"});
  set_clock(start);
  listen({}, {});
  before_.clear();
}

void transcript::listen(const words& channels, const std::string& how) {
  // The server would notice only later that the connection is closed.
  if (listener_) listener_->command({how_ == "SSUBSCRIBE" ? "SUNSUBSCRIBE" : "UNSUBSCRIBE"});
  listener_.reset();
  if (channels.empty()) return;
  listener_ = std::make_unique<support::raw_connection>(net::unix_endpoint{server_.socket()});
  listener_->command({"HELLO", "3"});
  for (const auto& channel : channels) listener_->command({how, channel});
  how_ = how;
}

void transcript::set_clock(long long micros) {
  now_ = micros;
  clock_.stop_at(microseconds(micros));
}

std::string transcript::step(const std::string& line) {
  const auto command = split(line);
  const words rest(command.begin() + 1, command.end());
  if (command[0] == "keys") {
    keys_ = rest;
  } else if (command[0] == "body") {
    body_ = line.substr(5);
  } else if (command[0] == "let") {
    names_.emplace_back(rest.at(0), rest.at(1));
  } else if (command[0] == "again") {
    return call(last_call_);
  } else if (command[0].find('/') != std::string::npos) {
    return call(last_call_ = command);
  } else if (command[0] == "redis") {
    us_.command(rest);
    before_ = state();
  } else if (command[0] == "repeat") {
    return repeat(line.substr(line.find(' ', line.find(' ') + 1) + 1), std::stol(rest.at(0)));
  } else if (command[0] == "pass") {
    const auto unit = rest.at(0).substr(rest.at(0).find_first_not_of("0123456789"));
    set_clock(now_ + std::stoll(rest[0]) * (unit == "s" ? 1'000'000 : unit == "ms" ? 1000 : 1));
    before_ = state();  // what has ended by itself
  } else if (command[0] == "clock") {
    set_clock(std::stoll(rest.at(0)));
    before_ = state();
  } else if (command[0] == "listen") {
    listen(rest, "SUBSCRIBE");
  } else if (command[0] == "listen-in-slot") {
    listen(rest, "SSUBSCRIBE");
  } else {
    throw std::runtime_error("what is this? " + line);
  }
  return {};
}

std::string transcript::repeat(const std::string& line, long times) {
  for (long i = 1; i < times; ++i) {
    const auto command = split(replaced(line, "%", std::to_string(i)));
    if (command[0] == "redis") us_.command(words(command.begin() + 1, command.end()));
    if (command[0] != "redis") execute(command);
  }
  return step(replaced(line, "%", std::to_string(times)));
}

std::string transcript::call(const words& command) {
  const auto reply = execute(command);
  return "  -> " + shown(reply) + '\n' + messages() + changes();
}

resp::value transcript::execute(const words& command) {
  const auto other = instead_.find(command.at(0));
  const std::string text =
      other != instead_.end() ? other->second : std::string{script_named(command[0]).text};
  words eval{"EVAL", replaced(text, "--@body", body_), std::to_string(keys_.size())};
  eval.insert(eval.end(), keys_.begin(), keys_.end());
  eval.insert(eval.end(), command.begin() + 1, command.end());
  return us_.command(eval);
}

std::string transcript::messages() {
  if (!listener_) return {};
  std::string result;
  listener_->send("*1\r\n$4\r\nPING\r\n");
  for (auto said = listener_->read_value(); said.is(resp::type::push);
       said = listener_->read_value()) {
    result += "  !! " + shown(said.items.at(1).text + ' ' + said.items.at(2).text) + '\n';
  }
  return result;
}

std::string transcript::changes() {
  std::string result;
  const auto after = state();
  for (const auto& [key, now] : after) {
    const auto was = before_.find(key);
    if (was != before_.end() && was->second == now) continue;
    result += "  " + shown(key) + " = " + shown(now.content);
    if (now.ends >= 0) result += " (" + std::to_string(now.ends - now_ / 1000) + " ms)";
    result += '\n';
  }
  for (const auto& [key, was] : before_) {
    if (!after.contains(key)) result += "  " + shown(key) + " is gone\n";
  }
  before_ = after;
  return result;
}

std::map<std::string, transcript::entry> transcript::state() {
  std::map<std::string, entry> all;
  const auto reply = us_.command({"EVAL", everything, "0"});
  for (std::size_t i = 0; i + 2 < reply.items.size(); i += 3) {
    const auto left = reply.items[i + 2].number;
    all[reply.items[i].text] = {reply.items[i + 1].text, left < 0 ? -1 : now_ / 1000 + left};
  }
  return all;
}

transcript::words transcript::split(const std::string& line) const {
  static const std::regex word(R"re("([^"]*)"|(\S+))re");
  static const std::regex time(R"re(\b([TM])([+-]\d+)?(?![A-Za-z0-9]))re");
  words result;
  for (auto each = std::sregex_iterator(line.begin(), line.end(), word);
       each != std::sregex_iterator(); ++each) {
    std::string text = (*each)[1].matched ? each->str(1) : each->str(2);
    for (std::smatch found; std::regex_search(text, found, time);) {
      const long long from = found.str(1) == "T" ? start : start / 1000;
      const long long behind = found[2].matched ? std::stoll(found.str(2)) : 0;
      text = found.prefix().str() + std::to_string(from + behind) + found.suffix().str();
    }
    for (const auto& [name, value] : names_) text = replaced(text, "$" + name, value);
    result.push_back(text);
  }
  return result;
}

std::string transcript::shown(std::string text) const {
  static const std::regex id(R"re(\b[0-9a-f]{40}\b)re");
  static const std::regex wrong(R"re((?:ERR |@user_script: \d+: )?(Wrong number of args)[^,"]*)re");
  static const std::regex place(R"re(user_script:\d+:)re");
  static const std::regex error(R"re(\b(WRONGTYPE)( [A-Za-z].*)?$)re");
  static const std::regex micros(R"re(\b1[67]\d{14}(?!\d))re"),
      millis(R"re(\b1[67]\d{11}(?!\d))re");
  for (const auto& [name, value] : names_) text = replaced(text, value, "$" + name);
  text = std::regex_replace(std::regex_replace(text, error, "$1"), id, "<id>");
  text = std::regex_replace(std::regex_replace(text, place, "user_script:"), wrong, "$1");
  text = with_times(with_times(text, micros, 'T', start), millis, 'M', start / 1000);
  for (auto& c : text) {
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = '~';
  }
  if (text.size() <= shown_at_most) return text;
  const auto half = shown_at_most / 2;
  return text.substr(0, half) + " ... " + text.substr(text.size() - half) + " (" +
         std::to_string(text.size()) + " bytes)";
}

std::string transcript::shown(const resp::value& reply) const {
  if (reply.is(resp::type::integer)) return shown(std::to_string(reply.number));
  if (reply.is(resp::type::null)) return "nil";
  if (reply.is(resp::type::error)) return "error";  // versions say it in different words
  if (!reply.is(resp::type::array)) return reply.text.empty() ? "\"\"" : shown(reply.text);
  std::string list;
  for (const auto& item : reply.items) list += (list.empty() ? "" : ", ") + shown(item);
  return "[" + list + "]";
}

}  // namespace holdfast::dialects
