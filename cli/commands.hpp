// Every command of the program.
#pragma once

#include "cli/command.hpp"

namespace holdfast::cli {

void add_run(CLI::App& program, context& shared);
void add_elect(CLI::App& program, context& shared);
void add_status(CLI::App& program, context& shared);
void add_ls(CLI::App& program, context& shared);
void add_watch(CLI::App& program, context& shared);
void add_audit(CLI::App& program, context& shared);
void add_release(CLI::App& program, context& shared);
void add_counter(CLI::App& program, context& shared);
void add_semaphore(CLI::App& program, context& shared);
void add_capabilities(CLI::App& program, context& shared);
void add_doctor(CLI::App& program, context& shared);
void add_serve(CLI::App& program, context& shared);
void add_acl(CLI::App& program, context& shared);
void add_completion(CLI::App& program, context& shared);
void add_help(CLI::App& program, context& shared);
void add_demo(CLI::App& program, context& shared);
void add_bench(CLI::App& program, context& shared);

}  // namespace holdfast::cli
