// Sells lamps from a stock in PostgreSQL, one seller at a time. The tutorial builds it step by step
// (docs/tutorial/stock-in-postgresql.md). HOLDFAST_URL names the lock server; PGHOST, PGUSER and
// PGDATABASE lead to PostgreSQL.

// [snippet database]
#include <libpq-fe.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <holdfast/holdfast.hpp>

using namespace std::chrono_literals;
using answer = std::unique_ptr<PGresult, decltype(&PQclear)>;

answer ask(PGconn* shop, const char* sql, const std::vector<const char*>& values = {}) {
  answer got(PQexecParams(shop, sql, static_cast<int>(values.size()), nullptr, values.data(),
                          nullptr, nullptr, 0),
             &PQclear);
  const auto status = PQresultStatus(got.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    throw std::runtime_error(PQerrorMessage(shop));
  }
  return got;
}
// [snippet end]

// [snippet write]
answer write(PGconn* shop, const std::string& units) {
  return ask(shop, "UPDATE stock SET units = $1 WHERE item = 'lamp'", {units.c_str()});
}

answer write_fenced(PGconn* shop, const std::string& units, const std::string& token) {
  return ask(shop,
             "UPDATE stock SET units = $1, fence = $2 "
             "WHERE item = 'lamp' AND fence <= $2",
             {units.c_str(), token.c_str()});
}
// [snippet end]

// [snippet sell]
struct sale {
  int units;
  bool freeze;  // the machine is paused at the worst moment
  bool fenced;  // the write carries the token
};

bool sell(PGconn* shop, const holdfast::client& locks, const sale& wish) {
  const auto lease = locks.mutex("stock:lamp", {.lease = 5s}).acquire();  // waits, or throws
  const auto row = ask(shop, "SELECT units FROM stock WHERE item = 'lamp'");
  const auto left = std::to_string(std::stoi(PQgetvalue(row.get(), 0, 0)) - wish.units);

  if (!lease.held()) return false;
  if (wish.freeze) std::raise(SIGSTOP);
  const auto written =
      wish.fenced ? write_fenced(shop, left, lease.token().to_string()) : write(shop, left);
  return std::string(PQcmdTuples(written.get())) == "1";  // how many rows it has changed
}  // here the lease ends, and the next seller gets the lock
// [snippet end]

// [snippet main]
int main(int argc, char** argv) try {
  const std::set<std::string> options(argv + 1, argv + argc);
  const sale wish{argc > 1 ? std::stoi(argv[1]) : 1, options.contains("--freeze"),
                  options.contains("--fenced")};
  const std::unique_ptr<PGconn, decltype(&PQfinish)> shop(PQconnectdb(""), &PQfinish);
  const char* const url = std::getenv("HOLDFAST_URL");
  const holdfast::client locks(url != nullptr ? url : "redis://localhost");

  const bool sold = sell(shop.get(), locks, wish);
  std::cout << (sold ? "sold" : "not sold: somebody else has had the lock since") << '\n';
  return sold ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
// [snippet end]
