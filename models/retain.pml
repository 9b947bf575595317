/* A retained lock: its holder keeps it after the release, takes it again without asking the server,
 * and gives it back when somebody else wants it.
 *
 * Abstraction: no clock. `over` says that the keeper's own deadline has passed; the server may end
 * the lease only after that, which is what lease.pml and the guarantees rest on. A message may be
 * lost or come at any later time. The keeper takes the lock at most TURNS times for one grant, as
 * the minors of a token run out. The thread that reads messages (`reader`) and the one that uses
 * the lock run at the same time.
 *
 * Merged or left out, since it only gives the lock back sooner: a waiter sends a message each time
 * that it asks, here it sends one; a connection that breaks counts as a message; a keeper that has
 * the lock from the queue keeps nothing. A release whose answer is lost is repeated: it names the
 * grant, so it cannot take away the next one (giving-back.pml). Threads of the keeper that wait for
 * each other take the lock by the same rule as one that comes later, and under the same mutex.
 *
 * Shows: keeper and waiter never both believe that they hold; once asked for it, the keeper does
 * not take the lock again; the waiter is served in every run, also when its message is lost.
 * Controls, which must fail: NOT_ATOMIC (the keeper looks, then takes), REVOCATION_IGNORED,
 * NO_DEADLINE (the keeper takes the lock again after its own deadline), KEPT_FOR_EVER (no timer,
 * no limit of turns and a lost message: the waiter is never served).
 */
#define TURNS 3

mtype = { away, held, idle }
mtype keeper = away;
byte owner = 0; /* at the server: 0 nobody, 1 the keeper, 2 the waiter */
bool waits = false, message = false, revoked = false, over = false, inside = false;
byte turns = 0;

/* The server hands over, or frees the lock. */
inline give_back() {
  if
  :: owner == 1 && waits -> owner = 2; waits = false
  :: owner == 1 && !waits -> owner = 0
  :: else /* it had ended, and may be another's */
  fi
}

#ifdef NO_DEADLINE
#define MAY_TAKE (!revoked)
#elif defined(REVOCATION_IGNORED)
#define MAY_TAKE (!over)
#else
#define MAY_TAKE (!over && !revoked)
#endif
#define BELIEVES (keeper == held && !over)

active proctype user() {
  byte rounds = 0;
end:
  do
  :: atomic { keeper == away && owner == 0 && rounds < 2 ->
       owner = 1; keeper = held; turns = 0; revoked = false; over = false; rounds++
     }
  :: atomic { keeper == held -> /* the end of the critical section */
       if
       :: revoked || turns >= TURNS || over -> give_back(); keeper = away
       :: else -> keeper = idle
       fi
     }
#ifndef NOT_ATOMIC
  :: atomic { keeper == idle && turns < TURNS && MAY_TAKE ->
       keeper = held; over = false; turns++; assert(!revoked); assert(!inside)
     }
#else
  :: keeper == idle && turns < TURNS && !over && !revoked ->
       keeper = held; turns++; assert(!inside)
#endif
#ifndef KEPT_FOR_EVER
  :: atomic { keeper == idle -> give_back(); keeper = away } /* not used for long enough */
#endif
  od
}

/* What the keeper does with the message that somebody wants the lock. */
active proctype reader() {
end:
  do
  :: atomic { message ->
       message = false; revoked = true;
#ifndef REVOCATION_IGNORED
       if
       :: keeper == idle -> give_back(); keeper = away
       :: else
       fi
#endif
     }
  :: message -> message = false /* lost */
  od
}

active proctype waiter() {
  if
  :: atomic { owner == 0 -> owner = 2 }
  :: atomic { owner == 1 -> waits = true; message = true }
  fi;
  /* Not a valid end: whoever waits must be served. He also asks when the lease could have ended. */
  atomic {
    if
    :: owner == 2
    :: waits && owner == 0 -> waits = false; owner = 2
    fi;
    assert(!BELIEVES);
    inside = true
  }
  atomic { inside = false; owner = 0 }
}

/* A frozen keeper: its deadline passes, later the server ends the lease. */
active proctype time() {
end:
  do
  :: owner == 1 && keeper != away && !over -> over = true
#ifdef NO_DEADLINE
  :: atomic { owner == 1 && keeper != away -> give_back() }
#else
  :: atomic { owner == 1 && over -> give_back() }
#endif
  :: break
  od
}
