// Commands to bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace holdfast::resp {

// A Lua script and the SHA-1 of its text (40 hex digits). Constants, generated from .lua files.
struct script {
  std::string_view name;  // "holdfast/acquire", for messages
  std::string_view text;
  std::string_view sha1;
  const script* in_cluster = nullptr;  // sent to the nodes of a cluster instead; null: the same

  const script& form(bool for_cluster) const noexcept {
    return for_cluster && in_cluster != nullptr ? *in_cluster : *this;
  }
};

class loaded_scripts;

// Appends commands to a buffer, e.g.
//   w.call(acquire_script, /*keys=*/2, /*args=*/4); w.arg(key); ... (six arguments)
//   w.command(2); w.arg("GET"); w.arg(key);
// Exactly as many arguments as announced must follow (asserted in debug builds by `finished`).
class writer {
 public:
  enum class scripts { by_sha1, by_text };  // EVALSHA, or EVAL after a NOSCRIPT answer

  // `loaded`: of the connection; null: whatever `how` says.
  explicit writer(std::string& out, scripts how = scripts::by_sha1,
                  loaded_scripts* loaded = nullptr) noexcept
      : out_(out), how_(how), loaded_(loaded) {}

  void command(std::size_t words);
  void call(const script& what, std::size_t keys, std::size_t args);
  void arg(std::string_view bytes);
  void arg(std::initializer_list<std::string_view> parts);  // one argument, put together
  void arg(std::int64_t number);
  bool finished() const noexcept { return missing_ == 0; }

 private:
  std::string& out_;
  scripts how_;
  loaded_scripts* loaded_;
  std::size_t missing_ = 0;
};

}  // namespace holdfast::resp
