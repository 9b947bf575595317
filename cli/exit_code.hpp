// The program's exit codes. They are stable, and documented in the man page.
#pragma once

#include <holdfast/errc.hpp>

namespace holdfast::cli {

enum exit_code : int {
  success = 0,
  problem_found = 1,    // doctor or demo found one, release found nobody, counter changed nothing
  incomplete_list = 3,  // ls was cut short, or ls or status could not see some locks
  usage = 64,           // bad arguments (EX_USAGE)
  foreign_data = 65,    // under the name stands something else (EX_DATAERR)
  no_server = 69,       // no usable server (EX_UNAVAILABLE)
  internal = 70,        // an error of this program, or of the caller's (EX_SOFTWARE)
  output_error = 74,    // the result cannot be written (EX_IOERR)
  no_lock = 75,         // not obtained in time (EX_TEMPFAIL)
  lost_while_running = 76,
  no_permission = 77,      // log-in or access list (EX_NOPERM)
  bad_configuration = 78,  // server address or password file (EX_CONFIG)
  has_run = 79,            // the job is not due again yet
  ran_too_long = 124,      // --at-most-for was over, as timeout(1) says it
  cannot_execute = 126,    // as env(1) and shells say it
  command_not_found = 127,
  killed_by_signal = 128,  // plus the signal's number
};

exit_code exit_code_for(errc reason) noexcept;

}  // namespace holdfast::cli
