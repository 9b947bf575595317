#include "support/peer_programs.hpp"

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <stdexcept>

#include "support/external.hpp"

namespace holdfast::bench {
namespace {

namespace fs = std::filesystem;

// Where it is usually installed, should it not be in PATH.
std::string compiler(const std::string& name, const fs::path& usual) {
  if (is_installed(name)) return name;
  if (fs::exists(usual)) return usual.string();
  throw std::runtime_error("no " + name);
}

fs::path beside_us() { return fs::read_symlink("/proc/self/exe").parent_path(); }

fs::path source_of(const char* peer) { return fs::path(HOLDFAST_BENCH_PEERS) / peer; }

// For those that write beside what they build.
fs::path copy_of(const char* peer, std::initializer_list<const char*> files) {
  auto copy = beside_us() / peer;
  fs::create_directories(copy);
  for (const char* const file : files) {
    fs::copy_file(source_of(peer) / file, copy / file, fs::copy_options::update_existing);
  }
  return copy;
}

std::string go_peer(const char* name) {
  const auto go = compiler("go", "/usr/local/go/bin/go");
  const auto program = (beside_us() / name).string();
  output_of({go, "-C", source_of(name).string(), "build", "-o", program, "."});
  return program;
}

}  // namespace

std::string rueidislock_peer() { return go_peer("rueidislock"); }

std::string redsync_peer() { return go_peer("redsync"); }

std::string rslock_peer() {
  const char* const home = std::getenv("HOME");
  const auto cargo = compiler("cargo", fs::path(home == nullptr ? "" : home) / ".cargo/bin/cargo");
  const auto copy = copy_of("rslock", {"Cargo.toml", "main.rs"});
  output_of({cargo, "build", "--quiet", "--release", "--manifest-path",
             (copy / "Cargo.toml").string(), "--target-dir", (copy / "target").string()});
  return (copy / "target/release/rslock-peer").string();
}

std::string node_redlock_peer() {
  const auto npm = compiler("npm", {});
  const auto copy = copy_of("node_redlock", {"package.json", "package-lock.json", "main.js"});
  output_of({npm, "ci", "--silent", "--no-fund", "--no-audit", "--prefix", copy.string()});
  return (copy / "main.js").string();
}

}  // namespace holdfast::bench
