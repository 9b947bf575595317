#include "redis/resp/value.hpp"

#include "base/printable.hpp"

namespace holdfast::resp {
namespace {

constexpr std::size_t longest = 200;

void describe(const value& v, std::string& out);

void describe_items(const value& v, char open, char close, std::string& out) {
  out += open;
  for (std::size_t i = 0; i < v.items.size() && out.size() < longest; ++i) {
    const bool after_key = v.is(type::map) && i % 2 == 1;
    if (i > 0) out += after_key ? ": " : ", ";
    describe(v.items[i], out);
  }
  out += close;
}

void describe(const value& v, std::string& out) {
  const auto text = [&] { return printable(v.text, longest); };
  switch (v.kind) {
    case type::null:
      out += "null";
      break;
    case type::simple:
    case type::real:
    case type::big_number:
      out += text();
      break;
    case type::error:
      out += "error \"" + text() + '"';
      break;
    case type::integer:
      out += std::to_string(v.number);
      break;
    case type::bulk:
    case type::verbatim:
      out += '"' + text() + '"';
      break;
    case type::boolean:
      out += v.number != 0 ? "true" : "false";
      break;
    case type::push:
      out += "push ";
      [[fallthrough]];
    case type::array:
      describe_items(v, '[', ']', out);
      break;
    case type::set:
    case type::map:
      describe_items(v, '{', '}', out);
      break;
  }
}

}  // namespace

std::string to_string(const value& v) {
  std::string out;
  describe(v, out);
  if (out.size() > longest) out.replace(longest, out.npos, "...");
  return out;
}

}  // namespace holdfast::resp
