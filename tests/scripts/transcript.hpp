// Runs a transcript: what is done to a server whose clock stands still, and what it answers.
//
//   == A title: the server is empty, and its clock shows T.
//   keys {l} {l}:w          the keys of the calls that follow
//   let a 0123...           $a stands for this from here on
//   holdfast/acquire $a 1000 T+5 0      calls a script with these arguments
//   holdfast/acquire@cluster ...        calls its form for clusters
//   body return 5           what a user's function does, in the scripts that have one
//   again                   calls it again
//   redis SET {l} x         a command that prepares something
//   repeat 20 LINE          does LINE so many times, with 1, 2, ... for each %; the last is told
//   pass 5us | 3ms | 2s     lets time pass
//   clock 1700000000000000  sets the clock
//   listen CHANNEL...       hears what is published there, and nothing else any more
//   listen-in-slot CHANNEL  the same, of a channel of a hash slot
//
// T is a time in us, M the same in ms; T+5, M-1 are others, also in what is answered. "" is an
// empty word, "a b" one with a blank. Behind a call stand indented lines: its answer (->), each
// message that was heard (!!), and each key that is now another one, with the ms that it will last.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis/resp/value.hpp"
#include "redis/resp/writer.hpp"
#include "support/clock_shim.hpp"
#include "support/eventually.hpp"
#include "support/private_server.hpp"
#include "support/raw_connection.hpp"

namespace holdfast::dialects {

class transcript {
 public:
  transcript(const support::private_server& server, support::clock_shim& clock,
             milliseconds patience = support::generous);

  // The text with what is answered now in place of what stands there.
  std::string play(const std::string& text);
  // The first line at which something else is answered than stands in the text.
  std::optional<std::string> first_difference(const std::string& text);

  // The parts of a text, each with what it needs of those before it: it can be played by itself.
  static std::vector<std::string> scenes_of(const std::string& text);

  // From now on these scripts have other texts.
  using texts = std::map<std::string, std::string>;
  void replace_scripts(texts other) { instead_ = std::move(other); }

  // Whether the server's clock stands still: that of Valkey 9 does not.
  bool clock_stands_still();
  bool knows(const std::string& command);

 private:
  using words = std::vector<std::string>;
  struct entry {
    std::string content;
    long long ends = -1;  // in ms; -1: never
    bool operator==(const entry&) const = default;
  };

  struct part {
    std::string line, answer;
  };
  static std::vector<part> parts_of(const std::string& text);

  std::string answer_to(const std::string& line);
  void begin();
  std::string step(const std::string& line);
  std::string repeat(const std::string& line, long times);
  std::string call(const words& command);
  resp::value execute(const words& command);
  std::string messages();
  std::string changes();
  std::map<std::string, entry> state();
  void set_clock(long long micros);
  void listen(const words& channels, const std::string& how);

  words split(const std::string& line) const;
  // Names in place of times and of what stands for something.
  std::string shown(std::string text) const;
  std::string shown(const resp::value& reply) const;

  const support::private_server& server_;
  support::clock_shim& clock_;
  support::raw_connection us_;
  std::unique_ptr<support::raw_connection> listener_;
  std::string how_;  // the command with which it subscribed
  long long now_ = 0;
  words keys_, last_call_;
  std::string body_;
  texts instead_;
  std::vector<std::pair<std::string, std::string>> names_;
  std::map<std::string, entry> before_;
};

}  // namespace holdfast::dialects
