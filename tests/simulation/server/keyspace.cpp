#include "simulation/server/keyspace.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>

#include "simulation/server/answers.hpp"

namespace holdfast::simulation {
namespace {

// An error, or null.
value check_scores(words command) {
  if (command.size() < 4 || command.size() % 2 != 0) return error("ERR syntax error");
  for (std::size_t i = 2; i < command.size(); i += 2) {
    if (!real(command[i])) return error("ERR value is not a valid float");
  }
  return {};
}

template <typename Pairs, typename Member>
auto position(Pairs& pairs, std::string_view wanted, Member member) {
  return std::find_if(pairs.begin(), pairs.end(),
                      [&](const auto& pair) { return pair.*member == wanted; });
}

}  // namespace

value error(std::string text) {
  return {.kind = type::error, .number = 0, .text = std::move(text), .items = {}};
}

std::string printed(double score) {
  char text[40];
  return {text, static_cast<std::size_t>(std::snprintf(text, sizeof text, "%.17g", score))};
}

value keyspace::score(double n) const {
  return text_of(resp3_ ? type::real : type::bulk, printed(n));
}

keyspace::entry* keyspace::find(std::string_view key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  if (found->second.expires && now_ > *found->second.expires) {
    entries_.erase(found);
    return nullptr;
  }
  return &found->second;
}

void keyspace::erase(std::string_view key) {
  const auto found = entries_.find(key);
  if (found != entries_.end()) entries_.erase(found);
}

keyspace::entry& keyspace::make(std::string_view key, entry fresh) {
  return entries_.insert_or_assign(std::string(key), std::move(fresh)).first->second;
}

void keyspace::set_time(std::chrono::microseconds now) {
  time_ = now;
  now_ = std::chrono::floor<std::chrono::milliseconds>(now).count();
}

const keyspace::sorted_set* keyspace::sorted_set_at(std::string_view key,
                                                    std::chrono::microseconds now) {
  set_time(now);
  const auto* const e = find(key);
  return e == nullptr ? nullptr : std::get_if<sorted_set>(&e->content);
}

std::vector<std::string> keyspace::ending_keys() const {
  std::vector<std::string> ending;
  for (const auto& [name, what] : entries_) {
    if (what.expires && now_ <= *what.expires) ending.push_back(name);
  }
  std::ranges::sort(ending);
  return ending;
}

std::vector<std::string> keyspace::lasting_keys() const {
  std::vector<std::string> lasting;
  for (const auto& [name, what] : entries_) {
    if (!what.expires) lasting.push_back(name);
  }
  return lasting;
}

std::size_t keyspace::elements() const {
  std::size_t sum = 0;
  for (const auto& [name, what] : entries_) {
    const auto* const set = std::get_if<sorted_set>(&what.content);
    const auto* const fields = std::get_if<hash>(&what.content);
    sum += set != nullptr ? set->size() : fields != nullptr ? fields->size() : 1;
  }
  return sum;
}

std::optional<value> keyspace::run(words command, std::chrono::microseconds now, bool resp3) {
  set_time(now);
  resp3_ = resp3;
  for (const auto family : {&keyspace::on_strings, &keyspace::on_keys, &keyspace::on_sorted_sets,
                            &keyspace::on_hashes}) {
    bool known = true;
    auto answer = (this->*family)(command, known);
    if (known) return answer;
  }
  return std::nullopt;
}

value keyspace::on_keys(words command, bool& known) {
  const auto name = command[0];
  if (name == "TIME") {
    auto answer = list();
    answer.items = {bulk(std::to_string(time_.count() / 1'000'000)),
                    bulk(std::to_string(time_.count() % 1'000'000))};
    return answer;
  }
  const bool expires = name == "PEXPIRE" || name == "PEXPIREAT";
  known = expires || name == "EXISTS" || name == "DEL" || name == "UNLINK" || name == "PTTL" ||
          name == "TYPE";
  if (!known) return {};
  if (command.size() < (expires ? 3U : 2U)) return too_few();
  if (name == "EXISTS" || name == "DEL" || name == "UNLINK") {
    std::int64_t count = 0;
    for (const auto key : command.subspan(1)) {
      if (find(key) == nullptr) continue;
      ++count;
      if (name != "EXISTS") erase(key);
    }
    return number(count);
  }
  const auto* e = find(command[1]);
  if (expires) return expire(command[1], command[2], name == "PEXPIRE" ? now_ : 0);
  if (name == "PTTL") {
    if (e == nullptr) return number(-2);
    return number(e->expires ? *e->expires - now_ : -1);
  }
  static constexpr std::string_view names[] = {"string", "zset", "hash"};
  return text_of(type::simple, e == nullptr ? "none" : names[e->content.index()]);
}

value keyspace::expire(std::string_view key, std::string_view time, std::int64_t since) {
  const auto ms = integer(time);
  if (!ms) return not_an_integer();
  auto* e = find(key);
  if (e == nullptr) return number(0);
  if (since + *ms <= now_) {
    erase(key);
  } else {
    e->expires = since + *ms;
  }
  return number(1);
}

value keyspace::on_sorted_sets(words command, bool& known) {
  const auto name = command[0];
  known = name.starts_with('Z');
  if (!known) return {};
  if (command.size() < 2) return too_few();
  auto* e = find(command[1]);
  auto* zset = e == nullptr ? nullptr : std::get_if<sorted_set>(&e->content);
  const bool of_another_type = e != nullptr && zset == nullptr;
  if (name == "ZADD") {
    // Redis reads the scores before it looks at the key.
    auto complaint = check_scores(command);
    if (complaint.is(type::error)) return complaint;
    return of_another_type ? wrong_type() : add_scores(command, zset);
  }
  if (of_another_type) return wrong_type();
  if (name == "ZCARD") return number(zset == nullptr ? 0 : std::int64_t(zset->size()));
  if (name == "ZRANGE") return range(command, zset == nullptr ? sorted_set{} : *zset);
  if (name == "ZRANGEBYSCORE") return between(command, zset == nullptr ? sorted_set{} : *zset);
  if (name == "ZCOUNT") {
    const auto found = between(command, zset == nullptr ? sorted_set{} : *zset);
    return found.is(type::error) ? found : number(std::int64_t(found.items.size()));
  }
  if (name == "ZPOPMIN") return pop_least(command, zset);
  known = name == "ZREM" || name == "ZRANK" || name == "ZSCORE";
  if (!known) return {};
  if (command.size() < 3) return too_few();
  if (name == "ZREM") {
    if (zset == nullptr) return number(0);
    const auto gone = std::erase_if(*zset, [&](const auto& pair) {
      return std::find(command.begin() + 2, command.end(), pair.second) != command.end();
    });
    if (zset->empty()) erase(command[1]);
    return number(std::int64_t(gone));
  }
  if (zset == nullptr) return {};
  const auto at = position(*zset, command[2], &sorted_set::value_type::second);
  if (at == zset->end()) return {};
  return name == "ZRANK" ? number(at - zset->begin()) : score(at->first);
}

value keyspace::pop_least(words command, sorted_set* zset) {
  const auto most = command.size() > 2 ? integer(command[2]) : 1;
  if (!most || *most < 0) return error("ERR value is out of range, must be positive");
  auto answer = list();
  if (zset == nullptr) return answer;
  if (command.size() == 2) {
    answer.items = {bulk(zset->front().second), score(zset->front().first)};
    zset->erase(zset->begin());
  } else {
    const auto end = zset->begin() + std::min(*most, std::int64_t(zset->size()));
    std::for_each(zset->begin(), end, [&](const auto& one) { add_member(answer, one, true); });
    zset->erase(zset->begin(), end);
  }
  if (zset->empty()) erase(command[1]);
  return answer;
}

value keyspace::add_scores(words command, sorted_set* zset) {
  if (zset == nullptr) {
    zset = &std::get<sorted_set>(make(command[1], {.content = sorted_set{}}).content);
  }
  std::int64_t added = 0;
  for (std::size_t i = 2; i < command.size(); i += 2) {
    const auto at = position(*zset, command[i + 1], &sorted_set::value_type::second);
    if (at == zset->end()) {
      ++added;
    } else {
      zset->erase(at);
    }
    sorted_set::value_type pair{*real(command[i]), command[i + 1]};
    zset->insert(std::upper_bound(zset->begin(), zset->end(), pair), std::move(pair));
  }
  return number(added);
}

value keyspace::range(words command, const sorted_set& zset) const {
  if (command.size() < 4) return too_few();
  auto first = integer(command[2]);
  auto last = integer(command[3]);
  if (!first || !last) return not_an_integer();
  const auto size = std::int64_t(zset.size());
  if (*first < 0) first = std::max<std::int64_t>(0, *first + size);
  if (*last < 0) *last += size;
  const bool scores = command.size() == 5 && command[4] == "WITHSCORES";
  if (command.size() > 4 && !scores) return error("ERR syntax error");
  auto answer = list();
  for (auto i = *first; i <= *last && i < size; ++i) {
    add_member(answer, zset[std::size_t(i)], scores);
  }
  return answer;
}

value keyspace::between(words command, const sorted_set& zset) const {
  if (command.size() < 4) return too_few();
  const auto least = real(command[2]);
  const auto most = real(command[3]);
  if (!least || !most) return error("ERR min or max is not a float");
  const bool scores = command.size() >= 5 && command[4] == "WITHSCORES";
  const bool limits = command.size() == 8 && command[5] == "LIMIT" && command[6] == "0";
  if (command.size() > 4 && !(scores && (command.size() == 5 || limits))) {
    return error("ERR syntax error");
  }
  auto left = limits ? real(command[7]).value_or(0) : static_cast<double>(zset.size());
  auto answer = list();
  for (const auto& one : zset) {
    if (left-- <= 0) break;
    if (one.first < *least) ++left;
    if (one.first >= *least && one.first <= *most) add_member(answer, one, scores);
  }
  return answer;
}

void keyspace::add_member(value& answer, const sorted_set::value_type& one, bool scores) const {
  if (scores && resp3_) {
    answer.items.push_back(list());
    answer.items.back().items = {bulk(one.second), score(one.first)};
  } else {
    answer.items.push_back(bulk(one.second));
    if (scores) answer.items.push_back(score(one.first));
  }
}

// In the order of hashes of the names, so that what is there all the time is met once.
value keyspace::page(words command, const hash* fields) const {
  std::uint64_t from = 0;
  std::from_chars(command[2].data(), command[2].data() + command[2].size(), from);
  std::map<std::uint64_t, const hash::value_type*> ordered;
  for (std::size_t i = 0; fields != nullptr && i < fields->size(); ++i) {
    std::uint64_t at = 14695981039346656037U;
    for (const unsigned char c : (*fields)[i].first) at = (at ^ c) * 1099511628211U;
    at = (at >> 16) + 1;
    if (at >= from) ordered.emplace(at, &(*fields)[i]);
  }
  auto entries = list();
  auto next = ordered.begin();
  for (std::size_t i = 0; i < page_ && next != ordered.end(); ++i, ++next) {
    entries.items.push_back(bulk(next->second->first));
    entries.items.push_back(bulk(next->second->second));
  }
  auto answer = list();
  answer.items = {bulk(next == ordered.end() ? "0" : std::to_string(next->first)),
                  std::move(entries)};
  return answer;
}

value keyspace::on_hashes(words command, bool& known) {
  const auto name = command[0];
  const bool of_all = name == "HGETALL" || name == "HLEN";
  known = of_all || name == "HSET" || name == "HGET" || name == "HMGET" || name == "HDEL" ||
          name == "HSCAN";
  if (!known) return {};
  if (command.size() < (name == "HSET" ? 4U : of_all ? 2U : 3U)) return too_few();
  if (name == "HSET" && command.size() % 2 != 0) return too_few();
  auto* e = find(command[1]);
  if (e == nullptr && name == "HSET") e = &make(command[1], {.content = hash{}});
  auto* fields = e == nullptr ? nullptr : std::get_if<hash>(&e->content);
  if (e != nullptr && fields == nullptr) return wrong_type();
  if (name == "HSCAN") return page(command, fields);
  if (name == "HLEN") return number(fields == nullptr ? 0 : std::int64_t(fields->size()));
  if (name == "HGETALL") {
    auto answer = list(resp3_ ? type::map : type::array);
    if (fields == nullptr) return answer;
    for (const auto& [field, content] : *fields) {
      answer.items.push_back(bulk(field));
      answer.items.push_back(bulk(content));
    }
    return answer;
  }
  const auto read = [&](std::string_view field) {
    if (fields == nullptr) return value{};
    const auto at = position(*fields, field, &hash::value_type::first);
    return at == fields->end() ? value{} : bulk(at->second);
  };
  if (name == "HGET") return read(command[2]);
  if (name == "HMGET") {
    auto answer = list();
    for (const auto field : command.subspan(2)) answer.items.push_back(read(field));
    return answer;
  }
  if (fields == nullptr) return number(0);
  std::int64_t count = 0;
  for (std::size_t i = 2; i < command.size(); i += name == "HSET" ? 2 : 1) {
    const auto at = position(*fields, command[i], &hash::value_type::first);
    const bool found = at != fields->end();
    if (name == "HDEL") {
      if (!found) continue;
      fields->erase(at);
      ++count;
    } else if (found) {
      at->second = command[i + 1];
    } else {
      fields->emplace_back(command[i], command[i + 1]);
      ++count;
    }
  }
  if (fields->empty()) erase(command[1]);
  return number(count);
}

}  // namespace holdfast::simulation
