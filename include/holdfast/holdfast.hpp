/// \file
/// All of Holdfast but the Asio bridge (`holdfast/asio.hpp`).
#pragma once

#include <holdfast/all_of.hpp>
#include <holdfast/client.hpp>
#include <holdfast/counter.hpp>
#include <holdfast/embedded_server.hpp>
#include <holdfast/errc.hpp>
#include <holdfast/fence_gate.hpp>
#include <holdfast/fenced.hpp>
#include <holdfast/fencing_token.hpp>
#include <holdfast/id_generator.hpp>
#include <holdfast/inspector.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/lockable.hpp>
#include <holdfast/mode_lock.hpp>
#include <holdfast/options.hpp>
#include <holdfast/rate_limiter.hpp>
#include <holdfast/read_write_lock.hpp>
#include <holdfast/recursive_mutex.hpp>
#include <holdfast/result.hpp>
#include <holdfast/run_while_held.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/task.hpp>
#include <holdfast/version.hpp>
