#include "support/peer_programs.hpp"

#include <cstdlib>
#include <filesystem>
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
  // cargo writes beside what it builds, so it builds a copy.
  const auto copy = beside_us() / "rslock";
  fs::create_directories(copy);
  for (const char* const file : {"Cargo.toml", "main.rs"}) {
    fs::copy_file(source_of("rslock") / file, copy / file, fs::copy_options::update_existing);
  }
  output_of({cargo, "build", "--quiet", "--release", "--manifest-path",
             (copy / "Cargo.toml").string(), "--target-dir", (copy / "target").string()});
  return (copy / "target/release/rslock-peer").string();
}

}  // namespace holdfast::bench
