// Replies and what they mean, for the tests of this room.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "redis/resp/value.hpp"

namespace holdfast::resp {

inline value null() { return {}; }
inline value number(type kind, std::int64_t n) {
  return {.kind = kind, .number = n, .text = {}, .items = {}};
}
inline value integer(std::int64_t n) { return number(type::integer, n); }
inline value boolean(bool b) { return number(type::boolean, b ? 1 : 0); }
inline value text(type kind, std::string bytes) {
  return {.kind = kind, .number = 0, .text = std::move(bytes), .items = {}};
}
inline value simple(std::string bytes) { return text(type::simple, std::move(bytes)); }
inline value bulk(std::string bytes) { return text(type::bulk, std::move(bytes)); }
inline value error(std::string bytes) { return text(type::error, std::move(bytes)); }
inline value list(type kind, std::vector<value> items) {
  return {.kind = kind, .number = 0, .text = {}, .items = std::move(items)};
}
inline value array(std::vector<value> items) { return list(type::array, std::move(items)); }

struct sample {
  std::string bytes;
  value meaning;
};

inline std::vector<sample> sample_replies() {
  using namespace std::string_literals;
  return {
      {"+OK\r\n", simple("OK")},
      {"+\r\n", simple("")},
      {"-NOSCRIPT No matching script. Please use EVAL.\r\n",
       error("NOSCRIPT No matching script. Please use EVAL.")},
      {":0\r\n", integer(0)},
      {":1732164000000000\r\n", integer(1732164000000000)},
      {":-1\r\n", integer(-1)},
      {":9223372036854775807\r\n", integer(INT64_MAX)},
      {":-9223372036854775808\r\n", integer(INT64_MIN)},
      {"$-1\r\n", null()},
      {"*-1\r\n", null()},
      {"_\r\n", null()},
      {"$0\r\n\r\n", bulk("")},
      {"$7\r\na\r\n\0b\xff\r\r\n"s, bulk("a\r\n\0b\xff\r"s)},
      {"#t\r\n", boolean(true)},
      {"#f\r\n", boolean(false)},
      {",3.25\r\n", text(type::real, "3.25")},
      {",-1.5e-300\r\n", text(type::real, "-1.5e-300")},
      {",1e999\r\n", text(type::real, "1e999")},
      {",inf\r\n", text(type::real, "inf")},
      {",-inf\r\n", text(type::real, "-inf")},
      {",nan\r\n", text(type::real, "nan")},
      {"(-3492890328409238509324850943850943825024385\r\n",
       text(type::big_number, "-3492890328409238509324850943850943825024385")},
      {"!21\r\nSYNTAX invalid\nsyntax\r\n", error("SYNTAX invalid\nsyntax")},
      {"=8\r\ntxt:some\r\n", text(type::verbatim, "some")},
      {"=4\r\nmkd:\r\n", text(type::verbatim, "")},
      {"*0\r\n", array({})},
      {"*3\r\n:1\r\n$2\r\nhf\r\n*-1\r\n", array({integer(1), bulk("hf"), null()})},
      {"*2\r\n*2\r\n:1\r\n*0\r\n+x\r\n", array({array({integer(1), array({})}), simple("x")})},
      {"~2\r\n+a\r\n+b\r\n", list(type::set, {simple("a"), simple("b")})},
      {"%2\r\n+a\r\n:1\r\n$1\r\nb\r\n*1\r\n#t\r\n",
       list(type::map, {simple("a"), integer(1), bulk("b"), array({boolean(true)})})},
      {">3\r\n$7\r\nmessage\r\n$4\r\nhf:c\r\n$2\r\nhi\r\n",
       list(type::push, {bulk("message"), bulk("hf:c"), bulk("hi")})},
      {"|1\r\n+ttl\r\n:3600\r\n:7\r\n", integer(7)},
      {"*2\r\n|0\r\n:1\r\n|2\r\n+a\r\n*1\r\n+b\r\n+c\r\n,0.5\r\n|1\r\n+d\r\n_\r\n:2\r\n",
       array({integer(1), integer(2)})},
  };
}

}  // namespace holdfast::resp
