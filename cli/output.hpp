// The program's output. Results go to standard output, everything else to standard error.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/inspector.hpp>

#include "cli/command.hpp"

namespace holdfast::cli {

// Rows of printable text under headings, each column as wide as its widest cell.
class table {
 public:
  explicit table(std::vector<std::string> headings) : rows_{std::move(headings)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

void print(std::string_view text);  // to standard output; throws when it cannot be written
void print_json(const nlohmann::ordered_json& value);

// A line for the operator: "holdfast: ...", or {"note": {"code": ..., "message": ...}} with --json.
void note(const context& shared, std::string_view code, std::string_view message);

// As above, for an error that ends the program: "holdfast: ..." or {"error": {...}}.
void report_error(bool json, std::string_view code, std::string_view message);

// Reports what a command threw, with a hint where there is one, and returns the exit code.
int report_exception(const context& shared, const std::exception& error);

const char* name_of(lock_state what);
const char* name_of(lock_kind of);
const char* name_of(finding::severity level);

// JSON text holds no bytes that are not UTF-8: such a name is marked, and also given in hex.
void add_text(nlohmann::ordered_json& object, const std::string& key, const std::string& text);
nlohmann::ordered_json to_json(const holder& who);
nlohmann::ordered_json to_json(const lock_status& status);
// "host:pid program", as far as it is known; of a lock also how many others.
std::string show_owner(const holder& owner);
std::string show_owner(const lock_status& status);
std::string show_share(const lock_share& share);  // "PR", "2 permits", or "all": of a mutex
std::string show_time(std::chrono::system_clock::time_point when);
std::string show_now();
std::string show_since(const lock_status& status);  // "2026-11-21 06:15:00Z"

}  // namespace holdfast::cli
