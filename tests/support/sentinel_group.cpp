#include "support/sentinel_group.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <list>
#include <stdexcept>

#include "embedded/directories.hpp"
#include "embedded/find_server.hpp"
#include "support/eventually.hpp"

namespace holdfast::support {
namespace {

// A sentinel needs a configuration file of its own, which it rewrites, as its first argument, where
// servers are given none: a program that adds it. Lies in the server's working directory.
std::string write_sentinel_program(const std::filesystem::path& directory,
                                   const std::string& program,
                                   const std::vector<std::string>& lines) {
  const auto configuration = directory / "sentinel.conf";
  const auto script = directory / "sentinel";
  std::ofstream settings(configuration);
  for (const auto& line : lines) settings << line << '\n';
  std::ofstream(script) << "#!/bin/sh\nexec " << program << ' ' << configuration.string()
                        << " --sentinel \"$@\"\n";
  ::chmod(script.c_str(), 0700);
  return script.string();
}

std::string number_of(const private_server& sentinel, const std::string& field) {
  const auto said = sentinel.command({"SENTINEL", "MASTER", sentinel_group::service});
  for (std::size_t i = 0; i + 1 < said.items.size(); i += 2) {
    if (said.items[i].text == field) return said.items[i + 1].text;
  }
  return {};
}

// Empty: its role just changes, for which the sentinels close all its connections.
std::string info_of(const private_server& server) {
  try {
    return server.command({"INFO", "replication"}).text;
  } catch (const std::runtime_error&) {
    return {};
  }
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void require(bool good, const char* what) {
  if (!good) throw std::runtime_error(what);
}

}  // namespace

private_server start_sentinel(const std::string& program, const std::vector<std::string>& lines,
                              const std::optional<server_tls>& tls, const std::string& address) {
  // Stays until the process ends: the sentinel rewrites its configuration at any time.
  static std::list<embedded::private_directory> directories;
  const auto& directory = directories.emplace_back().path();
  const auto server = embedded::find_server(program, embedded::program_folders());
  return private_server({.program = write_sentinel_program(directory, server.string(), lines),
                         .tcp = true,
                         .address = address,
                         .tls = tls});
}

private_server start_sentinel_of(const std::string& program, std::uint16_t master,
                                 const std::optional<server_tls>& tls) {
  return start_sentinel(program,
                        {std::string("sentinel monitor ") + sentinel_group::service +
                         " 127.0.0.1 " + std::to_string(master) + " 1"},
                        tls);
}

sentinel_group::sentinel_group(const std::string& program, std::optional<server_tls> tls,
                               milliseconds down_after, std::optional<server_tls> to_sentinels)
    : tls_(std::move(tls)), to_sentinels_(to_sentinels ? std::move(to_sentinels) : tls_) {
  std::vector<std::string> common{"--repl-diskless-sync-delay", "0", "--repl-ping-replica-period",
                                  "1"};
  if (tls_) common.insert(common.end(), {"--tls-replication", "yes"});
  for (std::size_t i = 0; i < members; ++i) {
    server_settings settings{.program = program, .tcp = true, .tls = tls_, .arguments = common};
    if (i > 0) {
      settings.arguments.insert(settings.arguments.end(),
                                {"--replicaof", "127.0.0.1", std::to_string(port_of(server(0)))});
    }
    servers_.emplace_back(settings);
  }
  await_replicas();
  const std::string name = service;
  std::vector<std::string> lines{
      "sentinel monitor " + name + " 127.0.0.1 " + std::to_string(port_of(server(0))) + " 2",
      "sentinel down-after-milliseconds " + name + " " + std::to_string(down_after.count()),
      "sentinel failover-timeout " + name + " 2000", "sentinel parallel-syncs " + name + " 2"};
  if (tls_) lines.emplace_back("tls-replication yes");
  for (std::size_t i = 0; i < members; ++i) {
    sentinels_.push_back(start_sentinel(program, lines, to_sentinels_));
  }
  await_sentinels();
}

void sentinel_group::await_replicas() const {
  require(eventually([this] { return replicas_in_step() == members - 1; }),
          "the replicas do not find their master");
}

void sentinel_group::await_sentinels() const {
  const auto is_settled = [this](const private_server& sentinel) {
    return number_of(sentinel, "num-slaves") == "2" &&
           number_of(sentinel, "num-other-sentinels") == "2" &&
           number_of(sentinel, "flags") == "master" &&
           number_of(sentinel, "port") == number_of(sentinels_.front(), "port");
  };
  require(eventually([&] { return std::ranges::all_of(sentinels_, is_settled); }),
          "the sentinels do not agree");
}

std::uint16_t sentinel_group::port_of(const private_server& one) const {
  return tls_ ? one.tls_port() : one.port();
}

std::string sentinel_group::url() const {
  return url_by(to_sentinels_ ? &private_server::tls_port : &private_server::port);
}

std::string sentinel_group::url_of_plain_sentinels() const { return url_by(&private_server::port); }

std::string sentinel_group::url_by(std::uint16_t (private_server::*port)() const) const {
  std::string text = tls_ ? "rediss+sentinel://" : "redis+sentinel://";
  for (const auto& one : sentinels_) {
    text +=
        (&one == &sentinels_.front() ? "" : ",") + ("127.0.0.1:" + std::to_string((one.*port)()));
  }
  return text + "/" + service;
}

std::string sentinel_group::master_address() const {
  for (const auto& one : sentinels_) {
    try {
      const auto said = one.command({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", service});
      if (said.items.size() == 2) return said.items[0].text + ":" + said.items[1].text;
    } catch (const std::runtime_error&) {  // this one is dead: the next
    }
  }
  throw std::runtime_error("no sentinel answers");
}

std::size_t sentinel_group::master() const {
  const auto address = master_address();
  for (std::size_t i = 0; i < members; ++i) {
    // At another address it is behind a proxy.
    if (address.ends_with(":" + std::to_string(port_of(servers_[i])))) return i;
  }
  throw std::runtime_error("the master is none of ours");
}

bool sentinel_group::has_moved_from(std::size_t before) const {
  const auto now = master();
  return now != before && contains(info_of(servers_[now]), "role:master");
}

bool sentinel_group::is_demoted(std::size_t i) const {
  return contains(info_of(servers_[i]), "role:slave");
}

void sentinel_group::fail_over() {
  const auto before = master();
  // Refused while an earlier one goes on.
  require(eventually([this] {
            return sentinels_[0].command({"SENTINEL", "FAILOVER", service}).text == "OK";
          }),
          "the sentinel refuses to fail over");
  require(eventually([&] { return has_moved_from(before); }), "there is no other master");
  demote(before);
}

void sentinel_group::cut_replication() const {
  const auto master_now = master();
  for (std::size_t i = 0; i < members; ++i) {
    if (i != master_now) servers_[i].command({"REPLICAOF", "127.0.0.1", "1"});
  }
}

void sentinel_group::demote(std::size_t i) const {
  servers_[i].command({"REPLICAOF", "127.0.0.1", std::to_string(port_of(servers_[master()]))});
}

std::size_t sentinel_group::replicas_in_step() const {
  const auto& master_server = sentinels_.empty() ? servers_[0] : servers_[master()];
  const auto info = info_of(master_server);
  const auto offset_of = [&info](const std::string& before) {
    const auto at = info.find(before);
    if (at == std::string::npos) return std::string{};
    const auto begin = at + before.size();
    return info.substr(begin, info.find_first_of("\r,", begin) - begin);
  };
  std::size_t in_step = 0;
  for (std::size_t i = 0; i + 1 < members; ++i) {
    const auto line = info.find("slave" + std::to_string(i) + ":");
    if (line == std::string::npos) continue;
    const auto text = info.substr(line, info.find('\r', line) - line);
    const bool online = contains(text, "state=online");
    if (online && contains(text, "offset=" + offset_of("master_repl_offset:"))) ++in_step;
  }
  return in_step;
}

}  // namespace holdfast::support
