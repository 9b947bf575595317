#include "support/report.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace holdfast::bench {
namespace {

std::string show(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value >= 1000 ? "%.0f" : "%.3g", value);
  return text;
}

std::string quoted(const std::string& text) {
  std::string all{'"'};
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    all += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return all + '"';
}

std::ofstream open_to_write(const std::string& path) {
  std::ofstream file(path);
  if (!file) throw std::runtime_error("cannot write " + path);
  return file;
}

}  // namespace

report::report(run_facts facts) : facts_(std::move(facts)) {
  std::printf("# %s\n# Holdfast %s, %s, %u cores\n", facts_.command.c_str(),
              facts_.revision.c_str(), facts_.server.c_str(), facts_.cores);
}

void report::at_most(std::string name, double value, std::string unit, double limit) {
  add({std::move(name), value, std::move(unit), "<= " + show(limit), value <= limit});
}

void report::at_least(std::string name, double value, std::string unit, double limit) {
  add({std::move(name), value, std::move(unit), ">= " + show(limit), value >= limit});
}

void report::tell(std::string name, double value, std::string unit) {
  add({std::move(name), value, std::move(unit), "", true});
}

void report::skip(const std::string& name, const std::string& why) {
  std::printf("%s skipped: %s\n", name.c_str(), why.c_str());
  std::fflush(stdout);
}

void report::add(figure one) {
  std::printf("%s %s %s", one.name.c_str(), show(one.value).c_str(), one.unit.c_str());
  if (!one.limit.empty()) std::printf(" %s %s", one.limit.c_str(), one.holds ? "holds" : "short");
  std::printf("\n");
  std::fflush(stdout);
  figures_.push_back(std::move(one));
}

bool report::all_hold() const { return std::ranges::all_of(figures_, &figure::holds); }

// Names, units and limits are ours: nothing in them needs an escape but the limit's "<" in SVG. The
// command may be anything.
void report::write_json(const std::string& path) const {
  auto file = open_to_write(path);
  file << "{\"run\": {\"command\": " << quoted(facts_.command) << ", \"holdfast\": \""
       << facts_.revision << "\", \"server\": \"" << facts_.server
       << "\", \"cores\": " << facts_.cores << "},\n\"figures\": [";
  const char* separator = "\n";
  for (const auto& one : figures_) {
    file << separator << "  {\"name\": \"" << one.name << "\", \"value\": " << one.value
         << ", \"unit\": \"" << one.unit << "\"";
    if (!one.limit.empty()) {
      file << ", \"limit\": \"" << one.limit << "\", \"holds\": " << (one.holds ? "true" : "false");
    }
    file << "}";
    separator = ",\n";
  }
  file << "\n]}\n";
}

// One bar for each figure that has a limit; the limit is the line, twice the limit the width.
void report::write_svg(const std::string& path) const {
  std::vector<figure> judged;
  std::ranges::copy_if(figures_, std::back_inserter(judged),
                       [](const figure& one) { return !one.limit.empty(); });
  auto file = open_to_write(path);
  const auto height = 30 + 26 * judged.size();
  file << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"" << height
       << "\" font-family=\"sans-serif\" font-size=\"13\">\n"
       << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  int y = 15;
  for (const auto& one : judged) {
    const double limit = std::stod(one.limit.substr(3));
    const double of_nothing = one.value > 0 ? 2 : 0;
    const double share = limit > 0 ? std::min(2.0, one.value / limit) : of_nothing;
    file << "<text x=\"10\" y=\"" << y + 14 << "\">" << one.name << "</text>\n"
         << "<rect x=\"340\" y=\"" << y << "\" height=\"20\" width=\"" << 200 * share
         << "\" fill=\"" << (one.holds ? "#2a7f5f" : "#b5382c") << "\"/>\n"
         << "<text x=\"750\" y=\"" << y + 14 << "\">" << show(one.value) << " (&"
         << (one.limit[0] == '<' ? "lt" : "gt") << ";" << one.limit.substr(1) << ")</text>\n";
    y += 26;
  }
  file << "<line x1=\"540\" x2=\"540\" y1=\"8\" y2=\"" << height - 8
       << "\" stroke=\"black\" stroke-dasharray=\"4 3\"/>\n</svg>\n";
}

}  // namespace holdfast::bench
