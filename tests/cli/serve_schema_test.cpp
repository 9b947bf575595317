// The answers of `holdfast serve` are what docs/serve.openapi.json says, no more and no less.
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/http_client.hpp"
#include "cli/program.hpp"

namespace holdfast::cli_tests {
namespace {

using nlohmann::json;

HOLDFAST_ON_EACH_SERVER(CommandLine);

// As much of JSON Schema as the document uses. Every property must be there, and no other.
class schema_check {
 public:
  explicit schema_check(const json& document) : document_(document) {}

  // Every way in which they differ, one a line.
  std::string differences(const json& value, const json& schema) {
    said_.clear();
    check(value, resolved(schema), "answer");
    return said_;
  }

 private:
  const json& resolved(const json& schema) const {
    if (!schema.contains("$ref")) return schema;
    return document_.at(json::json_pointer(schema["$ref"].get<std::string>().substr(1)));
  }

  static bool is_of(const json& value, const std::string& type) {
    return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
           (type == "string" && value.is_string()) || (type == "null" && value.is_null()) ||
           (type == "boolean" && value.is_boolean()) ||
           (type == "integer" && value.is_number_integer());
  }

  static bool is_one_of(const json& value, const json& types) {
    if (types.is_string()) return is_of(value, types);
    return std::any_of(types.begin(), types.end(),
                       [&](const json& type) { return is_of(value, type); });
  }

  json properties_of(const json& schema) const {
    auto all = schema.value("properties", json::object());
    for (const auto& part : schema.value("allOf", json::array())) {
      all.update(properties_of(resolved(part)));
    }
    return all;
  }

  void check(const json& value, const json& schema, const std::string& at) {
    if (schema.contains("anyOf")) {
      if (!value.is_null()) check(value, resolved(schema["anyOf"][0]), at);
      return;
    }
    if (schema.contains("enum")) {
      const auto& all = schema["enum"];
      if (std::find(all.begin(), all.end(), value) == all.end()) say(at, value);
      return;
    }
    if (!is_one_of(value, schema.at("type"))) say(at, value);
    if (value.is_object()) check_properties(value, properties_of(schema), at);
    for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) {
      check(value[i], resolved(schema.at("items")), at + "[" + std::to_string(i) + "]");
    }
  }

  void check_properties(const json& value, const json& properties, const std::string& at) {
    for (const auto& [name, schema] : properties.items()) {
      if (!value.contains(name)) {
        said_ += at + "." + name + " is missing\n";
      } else {
        check(value[name], resolved(schema), at + "." + name);
      }
    }
    for (const auto& [name, ignored] : value.items()) {
      if (!properties.contains(name)) said_ += at + "." + name + " is not described\n";
    }
  }

  void say(const std::string& at, const json& value) { said_ += at + " is " + value.dump() + "\n"; }

  const json& document_;
  std::string said_;
};

json described() {
  std::ifstream file(std::string(HOLDFAST_SOURCES) + "/docs/serve.openapi.json");
  return json::parse(file);
}

TEST_P(CommandLine, AnswersAreAsTheyAreDescribed) {
  const auto server = start();
  const holder has(server, "a");
  child_process waits(call_at(server, {"run", "a", "--", "true"}));
  child_process seats(
      call_at(server, {"run", "--permits", "1/3", "seats", "--", "sh", "-c", "echo in; exec cat"}));
  ASSERT_TRUE(seats.wait_for_output("in"));
  child_process program(call_at(server, {"serve", "--listen", "0", "--refresh", "200ms", "--doctor",
                                         "--also", "away=unix:///no/such/socket"}));
  const auto port = port_of(program);
  const auto get = [&](const std::string& path) {
    return json::parse(http_get(port, "/api/v1/" + path).body);
  };
  ASSERT_TRUE(eventually([&] { return get("servers")["servers"][0]["waiters"] == 1; }));
  ASSERT_TRUE(eventually([&] { return http_get(port, "/api/v1/doctor").status == 200; }));
  // So that there is a history.
  seats.close_input();
  ASSERT_EQ(seats.wait(), exited(0));
  ASSERT_TRUE(eventually([&] { return !get("locks/seats")["history"].empty(); }));

  const auto document = described();
  schema_check check(document);
  const auto schema = [&](const char* name) { return document["components"]["schemas"][name]; };
  for (const auto& [path, name] :
       std::vector<std::pair<const char*, const char*>>{{"servers", "servers"},
                                                        {"locks", "locks"},
                                                        {"locks/a", "one_lock"},
                                                        {"locks/seats", "one_lock"},
                                                        {"locks/nobody-has-it", "one_lock"},
                                                        {"clients", "clients"},
                                                        {"waits", "waits"},
                                                        {"doctor", "doctor"},
                                                        {"locks?page=0", "problem"},
                                                        {"doctor?server=nobody", "problem"},
                                                        {"locks?server=away", "problem"}}) {
    EXPECT_THAT(check.differences(get(path), schema(name)), IsEmpty()) << path;
  }
  EXPECT_THAT(check.differences(get("locks"), schema("clients")), Not(IsEmpty()));
}

}  // namespace
}  // namespace holdfast::cli_tests
