// A table that refuses late writers: the token stands in the row, and one UPDATE checks and changes
// it. PGHOST, PGUSER and PGDATABASE lead to PostgreSQL; the argument names the lock server.
#include <libpq-fe.h>

#include <array>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

namespace {

using answer = std::unique_ptr<PGresult, decltype(&PQclear)>;

// A report, and the largest token that it was written with.
class report_table {
 public:
  report_table() : database_(PQconnectdb(""), &PQfinish) {
    run("SET client_min_messages = warning");
    run("DROP TABLE IF EXISTS holdfast_report");
    run("CREATE TABLE holdfast_report (id int PRIMARY KEY, body text, fence bigint NOT NULL)");
    run("INSERT INTO holdfast_report VALUES (1, '', 0)");
  }
  ~report_table() { PQclear(PQexec(database_.get(), "DROP TABLE IF EXISTS holdfast_report")); }
  report_table(const report_table&) = delete;
  report_table& operator=(const report_table&) = delete;

  // [snippet write]
  holdfast::fence_verdict write(const std::string& body, holdfast::fencing_token token) {
    const auto updated =
        run("UPDATE holdfast_report SET body = $2, fence = $1::bigint "
            "WHERE id = 1 AND fence <= $1::bigint",
            token.to_string().c_str(), body.c_str());
    const bool accepted = std::string(PQcmdTuples(updated.get())) == "1";
    return {accepted, holdfast::fencing_token{std::stoull(read("fence"))}};
  }
  // [snippet end]

  std::string read(const std::string& column) {
    const auto row = run(("SELECT " + column + " FROM holdfast_report WHERE id = 1").c_str());
    return PQgetvalue(row.get(), 0, 0);
  }

 private:
  template <typename... Texts>
  answer run(const char* sql, Texts... texts) {
    const std::array<const char*, sizeof...(texts)> parameters{texts...};
    answer got(PQexecParams(database_.get(), sql, static_cast<int>(parameters.size()), nullptr,
                            parameters.data(), nullptr, nullptr, 0),
               &PQclear);
    const auto status = PQresultStatus(got.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
      throw std::runtime_error(PQerrorMessage(database_.get()));
    }
    return got;
  }

  std::unique_ptr<PGconn, decltype(&PQfinish)> database_;
};

}  // namespace

int main(int argc, char** argv) {
  report_table table;
  const auto url = server_url(argc, argv);
  const holdfast::client one{url}, another{url};  // in earnest, on two machines

  const auto slow = one.mutex("report").acquire();
  holdfast::inspector{another}.break_lock("report", "its holder seems to be frozen");
  const auto fast = another.mutex("report").acquire();

  const auto accepted = table.write("new", fast.token());
  const auto late = table.write("old", slow.token());  // the frozen holder wakes up
  if (!late) one.raise_floor("report", late.last);     // its next token will be larger
  std::cout << "new writer " << (accepted ? "accepted" : "refused") << ", late writer "
            << (late ? "accepted" : "refused") << ", stored: " << table.read("body") << '\n';
  return accepted && !late && late.last == fast.token() ? 0 : 1;
}
