// The words of runtime/ that this room uses as its own.
#pragma once

#include "runtime/callback_thread.hpp"
#include "runtime/client_core.hpp"
#include "runtime/clock_rate.hpp"
#include "runtime/listener.hpp"
#include "runtime/local_acquisition.hpp"
#include "runtime/local_lock.hpp"
#include "runtime/lock_driver.hpp"
#include "runtime/lock_source.hpp"
#include "runtime/lock_spec.hpp"
#include "runtime/loss_notice.hpp"
#include "runtime/timers.hpp"

namespace holdfast::redis_locks {

using runtime::acquired;
using runtime::acquisition;
using runtime::callback_thread;
using runtime::client_core;
using runtime::follow_clock_rate;
using runtime::grant;
using runtime::holding;
using runtime::listener;
using runtime::local_acquisition;
using runtime::local_lock;
using runtime::lock_driver;
using runtime::lock_source;
using runtime::lock_spec;
using runtime::loss_notice;
using runtime::timed;

}  // namespace holdfast::redis_locks
