/* The queue with claim leases: grants are pushed, may be lost or late, and the waiter dates them.
 *
 * Abstraction: two clients with one request each; client 3 is a first holder that may crash. Time is
 * a few ticks; the claim is 2 of them, a lease 3. Clients' clocks run alike; a mapped server time is
 * right or one tick early (the error of the sample). Messages take any time. STEP: the server's
 * clock steps forward once, while the first holder holds.
 *
 * Differs from the scripts and from acquire_machine, without hiding anything: whoever is served by
 * the request that it has just sent is told so as well, which it does not believe twice; a message
 * that comes while its waiter asks stays under way, where the machine keeps it until the answer; a
 * release that finds too many dead waiters asks again, and holds the lock until then, which is one
 * step here. Tokens are counted here.
 * In other models: how tokens are drawn (tokens.pml), places, tickets, polling and the confirmation
 * of a grant (provisional.pml), a request that gives a grant back and asks again (giving-back.pml).
 * In none: messages that are forged or whose proof others know (tests/faults/co_tenant_test.cpp),
 * and breaks by operators.
 */
#ifndef END
#define END 3
#endif
#define CLAIM 2
#define LEASE 3
#define ANSWER_BOUND 1
#define SERVER_NOW (t + step)
#define FREE (owner == 0 || expires <= SERVER_NOW)
mtype = { idle, asking, waiting, held, left, dead };

byte t, step;
byte owner = 3, expires = LEASE, major = 1;
byte q0, q1; /* the queue */
mtype phase[3] = idle;
byte sent[3], until[3], token[3];
bool command[3], withdrawing[3];
bool copy[3]; byte copy_sent[3];       /* on an abandoned connection */
bool late_copy;                        /* of what client 1 gave it up with, likewise */
bool granted[3]; byte answer_until[3], answer_token[3]; bool answered[3];
bool push[3]; byte push_at[3], push_true[3], push_token[3];
bool first_holds = true;               /* client 3 has not released */
byte newest;                           /* the largest token that a client got */

#define BELIEVES(c) (phase[c] == held && t < until[c])

inline hand_over() {
#ifndef TOKEN_KEPT
  major++;
#endif
  if
  :: q0 == 0 -> owner = 0; expires = 0
  :: q0 != 0 ->
     owner = q0; q0 = q1; q1 = 0; expires = SERVER_NOW + CLAIM;
     if
     :: push[owner] = true; push_at[owner] = SERVER_NOW; push_true[owner] = t;
        push_token[owner] = major
     :: skip /* lost */
     fi
  fi
}

inline acquire(c) {
  if
  :: FREE && owner != 0 -> owner = 0; expires = 0
  :: else
  fi;
  if
  :: owner == c
  :: owner == 0 && q0 == 0 -> owner = c; major++
  :: else ->
     if
     :: q0 == c || q1 == c
     :: else -> if :: q0 == 0 -> q0 = c :: else -> q1 = c fi
     fi;
     if :: owner == 0 -> hand_over() :: else fi
  fi;
  if
  :: owner == c && expires < SERVER_NOW + LEASE -> expires = SERVER_NOW + LEASE
  :: else
  fi
}

inline withdraw(c) {
  if
  :: FREE && owner != 0 -> owner = 0; expires = 0
  :: else
  fi;
  if :: q0 == c -> q0 = q1; q1 = 0 :: q1 == c -> q1 = 0 :: else fi;
#ifndef NO_OWNER_COMPARED
  if :: owner == c -> hand_over() :: else fi
#else
  if :: owner != 0 -> hand_over() :: else fi
#endif
}

inline may_leave_a_copy(c) { /* one will do: the clients are alike */
  if :: c == 1 -> late_copy = true :: skip fi
}

inline hold(c, deadline, number) {
  phase[c] = held; until[c] = deadline; token[c] = number; command[c] = false;
  answered[c] = false;
  if
  :: t < deadline ->
#ifndef STEP /* a step ends a lease early */
     assert(!(first_holds && t < LEASE));
#endif
     assert(!BELIEVES(3 - c)); assert(number > newest); newest = number
  :: else
  fi
}

#define STARTED (push_at[c] - early)
proctype client(byte c) {
  byte early;
end:
  do
  :: atomic { (phase[c] == idle || phase[c] == waiting) && t < END ->
       phase[c] = asking; command[c] = true; sent[c] = t; answered[c] = false }
  :: atomic { command[c] && !answered[c] && t <= sent[c] + ANSWER_BOUND -> /* it is executed */
       acquire(c);
       command[c] = false; answered[c] = true; granted[c] = (owner == c);
       answer_token[c] = major;
       if :: owner == c -> answer_until[c] = sent[c] + expires - SERVER_NOW :: else fi }
  :: atomic { phase[c] == asking && answered[c] ->
       answered[c] = false;
       if :: granted[c] -> hold(c, answer_until[c], answer_token[c])
          :: else -> phase[c] = waiting fi }
  :: atomic { phase[c] == asking && t > sent[c] + ANSWER_BOUND -> /* lost, or a copy is left */
       if :: command[c] && !copy[c] -> copy[c] = true; copy_sent[c] = sent[c] :: else fi;
       command[c] = false; answered[c] = false; phase[c] = waiting }
  :: atomic { copy[c] -> /* the late copy; nobody reads its answer */
#ifndef NO_NOT_AFTER
       if :: SERVER_NOW <= copy_sent[c] + ANSWER_BOUND -> acquire(c) :: else fi;
#else
       acquire(c);
#endif
       copy[c] = false; copy_sent[c] = 0 }
  :: atomic { push[c] && phase[c] == waiting ->
       if :: early = 0 :: early = 1 fi;
       push[c] = false;
#ifdef DATED_BY_ARRIVAL
       hold(c, t + CLAIM, push_token[c])
#else
       if
       :: push_at[c] < early || STARTED + CLAIM / 2 < t /* too old: only a hint */
#ifdef NO_FUTURE_CHECK
       :: else -> hold(c, STARTED + CLAIM, push_token[c])
#else
       :: push_at[c] >= early && STARTED > t /* from the future: only a hint */
#ifdef PROMPT
       :: push_true[c] < t /* this run looks at prompt grants only */
#endif
       :: else -> hold(c, STARTED + CLAIM, push_token[c])
#endif
       fi
#endif
     }
  :: atomic { push[c] && phase[c] == held -> push[c] = false }
  :: atomic { push[c] && phase[c] == left -> push[c] = false;
#ifndef CANCEL_ONLY_STOPS_LISTENING
       withdrawing[c] = true
#endif
     }
  :: atomic { phase[c] == waiting || phase[c] == asking -> /* cancel */
       if :: command[c] && !copy[c] -> copy[c] = true; copy_sent[c] = sent[c] :: else fi;
       command[c] = false; answered[c] = false; phase[c] = left;
#ifndef CANCEL_ONLY_STOPS_LISTENING
       withdrawing[c] = true
#endif
     }
#ifdef EARLY_WITHDRAW
  :: atomic { withdrawing[c] ->
#else
  :: atomic { withdrawing[c] && (!copy[c] || t > copy_sent[c] + ANSWER_BOUND) ->
#endif
       withdraw(c); withdrawing[c] = false; may_leave_a_copy(c) }
  :: atomic { phase[c] == held && t < until[c] -> /* release */
       withdraw(c); phase[c] = left; may_leave_a_copy(c) }
  :: atomic { c == 1 && late_copy -> withdraw(c); late_copy = false }
  :: atomic { phase[c] == waiting -> phase[c] = dead; push[c] = false }
  od
}

#define ORPHAN(c) (phase[c] == left && owner == c && !FREE && !withdrawing[c] && !push[c])
proctype world() {
  do
  :: atomic { t < END -> t++ }
  :: atomic { owner == 3 && !FREE -> first_holds = false; hand_over() } /* its release */
  :: atomic { q0 != 0 && q0 < 3 && phase[q0] == dead -> q0 = q1; q1 = 0 } /* not heard of */
  :: atomic { q0 != 0 || q1 != 0 -> q0 = 0; q1 = 0 } /* a third party deletes the queue */
#ifdef STEP
  :: atomic { owner == 3 && step == 0 -> step = 1 }
#endif
  :: atomic { ORPHAN(1) || ORPHAN(2) -> assert(false) }
  :: t == END -> break
  od
}

init { atomic { run client(1); run client(2); run world() } }
