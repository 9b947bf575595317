/* The queue of a mutex: places by tickets, provisional grants that their holder must confirm, and a
 * waiter that polls.
 *
 * Abstraction: three clients, each of which asks again and again. L listens; its messages and its
 * requests may be lost or late. P polls, and nothing happens to it. F listens, its requests may be
 * lost or late, too, and it gives up, freezes, thaws and dies. A third party may delete the queue.
 * Time goes on in ticks of half a provisional grant; all times are kept as what is left of them, so
 * that any number of ticks, requests and grants is explored. Clocks run alike; a grant that is told
 * is dated rightly or one tick early. Tokens, and a server's clock that is set: handover.pml.
 *
 * Shows: no two clients believe that they hold the lock; nobody is served while a waiter with an
 * older ticket waits, to which nothing has happened since it was told its place; while such a waiter
 * waits, a provisional grant that nobody confirms passes on to the next when it ends; and a free
 * lock is taken by a waiter that lives as soon as that asks, which it does in time.
 * Controls, which must fail: CONFIRMED_BY_MESSAGE (a message makes it the whole lease),
 * WHOLE_LEASE (the server gives the addressee the whole lease), NEXT_NOT_TOLD (nobody is told that it is the next), ASKS_NEVER
 * (a waiter relies on messages), TICKET_IGNORED (who comes back stands at the end),
 * POLLER_NOT_LISTED, DEAD_NOT_PASSED, NO_NOT_AFTER (a late copy of a request is executed). REACHED=N:
 * that each of these happens at all: (1) a provisional grant is confirmed, (2) a waiter comes back
 * to its place in front of another, (4) one that polls finds a provisional grant, (8) one ends
 * whose addressee is silent.
 */
#define LEASE 3
#define CLAIM 2  /* how long a provisional grant lasts */
#define ASK 3    /* a waiter that hears nothing asks again after that */
#define POLL 1   /* and one that polls */
#define LATE 2   /* a request of this age is refused, and its client knows it */
#define L 1
#define P 2
#define F 3

mtype = { idle, asking, waiting, held, leaving };

/* The server. */
byte owner, left;      /* 0: the lock is free */
bool provisional;      /* the owner has not confirmed it */
byte q[3];             /* the queue */
byte ticket[4];        /* by order of arrival: the oldest is 1; 0: the attempt has none */
/* The clients. */
mtype phase[4] = idle;
bool command[4], answered[4], granted[4];
byte age[4], answer_left[4];
byte asks_in[4];
bool knows[4];         /* its ticket */
byte push[4];          /* a grant under way: 1 + its age; 3: too old */
byte belief;           /* for how long the one that holds it believes that it does */
bool frozen, dead;
#ifdef NO_NOT_AFTER
bool stale; /* a copy of a request of F that it has given up */
#endif
/* What is checked: calm[c], nothing has happened to it since it was told its place. */
bool calm[4];
byte wasted, silent_for;

hidden byte w, i;

#define LIVE(c) (c != F || !(frozen || dead))
#define GONE(c) (c == F && dead)
#define BUSY(c) (command[c] || answered[c])
#define OTHER_HOLDS(c) ((c != L && phase[L] == held) || (c != P && phase[P] == held) || \
                        (c != F && phase[F] == held))
#define ANY_HOLDS (phase[L] == held || phase[P] == held || phase[F] == held)
#define WAITS_CALMLY(c) (LIVE(c) && phase[c] == waiting && calm[c])
#define WAITS(c) (LIVE(c) && phase[c] == waiting)
#define IN_QUEUE(c) (q[0] == c || q[1] == c || q[2] == c)
#define MIN(a, b) (a < b -> a : b)
#ifdef ASKS_NEVER
#define PAUSE 200
#else
#define PAUSE MIN(ASK, left)
#endif
#ifdef REACHED
#define REACH(bit) assert(bit != REACHED)
#else
#define REACH(bit) skip
#endif

/* ---- the server's scripts */

inline forget(c) {
  if
  :: ticket[c] != 0 ->
     if :: ticket[L] > ticket[c] -> ticket[L]-- :: else fi;
     if :: ticket[P] > ticket[c] -> ticket[P]-- :: else fi;
     if :: ticket[F] > ticket[c] -> ticket[F]-- :: else fi;
     ticket[c] = 0
  :: else
  fi;
  knows[c] = false
}

inline new_ticket(c) {
  forget(c);
  ticket[c] = 1 + (ticket[L] > 0) + (ticket[P] > 0) + (ticket[F] > 0)
}

inline leave_queue(c) {
  if
  :: q[0] == c -> q[0] = q[1]; q[1] = q[2]; q[2] = 0
  :: q[1] == c -> q[1] = q[2]; q[2] = 0
  :: q[2] == c -> q[2] = 0
  :: else
  fi
}

#ifdef TICKET_IGNORED
#define BEFORE(a, b) false
#else
#define BEFORE(a, b) (ticket[a] < ticket[b])
#endif

inline join(c) {
  if
  :: IN_QUEUE(c)
  :: else ->
     if :: !knows[c] -> new_ticket(c) :: else fi;
     if
     :: q[0] == 0 -> q[0] = c
     :: q[0] != 0 && BEFORE(c, q[0]) -> q[2] = q[1]; q[1] = q[0]; q[0] = c; REACH(2)
     :: q[0] != 0 && !BEFORE(c, q[0]) && q[1] == 0 -> q[1] = c
     :: q[0] != 0 && !BEFORE(c, q[0]) && q[1] != 0 && BEFORE(c, q[1]) -> q[2] = q[1]; q[1] = c
     :: else -> q[2] = c
     fi
  fi
}

inline tell_next(ms) {
  do
  :: q[0] != 0 && GONE(q[0]) -> leave_queue(q[0])
  :: q[0] != 0 && !GONE(q[0]) && q[0] != P ->
#ifndef NEXT_NOT_TOLD
     if
     :: asks_in[q[0]] = MIN(asks_in[q[0]], ms)
     :: calm[q[0]] = false
     fi;
#endif
     break
  :: else -> break
  od
}

/* Nobody is served while a waiter with an older ticket waits, to which nothing has happened. */
#define PASSED(v, c) (v != c && WAITS_CALMLY(v) && (ticket[c] == 0 || ticket[v] < ticket[c]))
#define in_order(c) assert(!PASSED(L, c) && !PASSED(P, c) && !PASSED(F, c))

#ifdef WHOLE_LEASE
#define GRANTED LEASE
#else
#define GRANTED CLAIM
#endif

inline is_served() { wasted = 0; silent_for = 0 }

inline pass_on(me) {
  owner = 0; left = 0; provisional = false;
  do
  :: q[0] == 0 -> break
  :: q[0] != 0 ->
#ifdef DEAD_NOT_PASSED
     if :: GONE(q[0]) -> break :: else fi;
#endif
     w = q[0];
     leave_queue(w);
     if
     :: GONE(w)
     :: else ->
        in_order(w);
        owner = w;
        is_served();
        if
        :: w == me -> left = LEASE
        :: w != me ->
           left = GRANTED; provisional = true;
           if :: w != P -> push[w] = 1 :: else fi;
           tell_next(left)
        fi;
        break
     fi
  od
}

inline acquire(c) {
  push[c] = 0;
  if
  :: owner == c ->
     if :: provisional && c == P -> REACH(4) :: else fi;
     left = LEASE; provisional = false
  :: owner != c ->
#ifdef POLLER_NOT_LISTED
     if
     :: c == P && owner == 0 && q[0] == 0 -> in_order(c); owner = c; left = LEASE
     :: c == P && owner == 0 && q[0] != 0 -> pass_on(0)
     :: c == P && owner != 0
     :: c != P ->
        join(c);
        if :: owner == 0 -> pass_on(c) :: else fi
     fi
#else
     join(c);
     if :: owner == 0 -> pass_on(c) :: else fi
#endif
  fi
}

/* The owner gives the lock back. */
inline hand_over() { is_served(); pass_on(0) }

inline withdraw(c) {
  i = (q[0] == c);
  leave_queue(c);
  if
  :: owner == c -> hand_over()
  :: owner != c && i && owner != 0 -> tell_next(left)
  :: owner != c && i && owner == 0 -> tell_next(0)
  :: else
  fi
}

/* ---- a client */

inline hold(c, time) {
  assert(!OTHER_HOLDS(c));
  phase[c] = held; belief = time; calm[c] = false; asks_in[c] = 0; push[c] = 0;
  forget(c);
  is_served()
}

inline attempt_ends(c) {
  phase[c] = idle; calm[c] = false; asks_in[c] = 0; push[c] = 0; command[c] = false;
  answered[c] = false; age[c] = 0; answer_left[c] = 0; granted[c] = false;
  forget(c)
}

inline settled(c) {
  command[c] = false; answered[c] = false; granted[c] = false; age[c] = 0; answer_left[c] = 0
}

/* Nothing happens to P: its questions are answered at once. */
proctype poller() {
end:
  do
  :: atomic { phase[P] == idle || (phase[P] == waiting && asks_in[P] == 0) ->
       acquire(P);
       if
       :: owner == P -> hold(P, LEASE)
       :: owner != P -> phase[P] = waiting; calm[P] = true; asks_in[P] = POLL;
#ifdef POLLER_NOT_LISTED
          if :: ticket[P] == 0 -> new_ticket(P) :: else fi;
#endif
          knows[P] = true
       fi }
  :: atomic { phase[P] == held && (left < LEASE || belief < LEASE) ->
       left = LEASE; belief = LEASE; provisional = false }
  :: atomic { phase[P] == held -> withdraw(P); attempt_ends(P) }
  od
}

proctype client(byte c) {
end:
  do
  :: atomic { LIVE(c) && (phase[c] == idle || (phase[c] == waiting && asks_in[c] == 0)) ->
       phase[c] = asking; command[c] = true }
  :: atomic { command[c] && age[c] < LATE -> /* it is executed */
       command[c] = false; answered[c] = true;
       if
       :: phase[c] == held -> /* a renewal */
          granted[c] = (owner == c);
          if :: owner == c && provisional -> REACH(1) :: else fi;
          if :: owner == c -> left = LEASE; provisional = false :: else fi
       :: phase[c] != held ->
          acquire(c);
          granted[c] = (owner == c);
          if
          :: owner == c
          :: owner != c -> calm[c] = true; asks_in[c] = PAUSE
          fi
       fi;
       if :: granted[c] -> answer_left[c] = left - age[c] :: else fi }
  :: atomic { LIVE(c) && answered[c] && phase[c] == asking ->
       if
       :: granted[c] && answer_left[c] > 0 -> hold(c, answer_left[c])
       :: granted[c] && answer_left[c] == 0 -> withdraw(c); phase[c] = waiting; asks_in[c] = 0
       :: !granted[c] -> phase[c] = waiting;
          knows[c] = true
       fi;
       settled(c) }
  :: atomic { LIVE(c) && answered[c] && phase[c] == held ->
       if
       :: granted[c] -> belief = (belief > answer_left[c] -> belief : answer_left[c]); settled(c)
       :: !granted[c] -> attempt_ends(c)
       fi }
  :: atomic { LIVE(c) && age[c] == LATE && phase[c] == asking ->
#ifdef NO_NOT_AFTER
       if :: c == F && command[c] -> stale = true :: else fi;
#endif
       phase[c] = waiting; asks_in[c] = 0; calm[c] = false; settled(c) }
  :: atomic { LIVE(c) && age[c] == LATE && phase[c] == held -> settled(c) }
  :: atomic { LIVE(c) && push[c] > 0 && phase[c] == waiting ->
       if
       :: push[c] < 3 -> i = CLAIM + 1 - push[c]
       :: push[c] < 3 -> i = CLAIM - push[c] /* dated too early */
       :: push[c] == 3 -> i = 0
       fi;
#ifdef CONFIRMED_BY_MESSAGE
       if :: i > 0 -> i = i + LEASE - CLAIM :: else fi;
#endif
       push[c] = 0;
       if
       :: i > 0 -> hold(c, i)
       :: i == 0 -> asks_in[c] = 0
       fi }
  :: atomic { push[c] > 0 -> push[c] = 0; calm[c] = false } /* lost */
  :: atomic { LIVE(c) && phase[c] == held && !BUSY(c) -> command[c] = true } /* it renews */
  :: atomic { LIVE(c) && phase[c] == held -> withdraw(c); attempt_ends(c) } /* it releases */
  :: atomic { c == F && LIVE(c) && (phase[c] == waiting || phase[c] == asking) -> /* it gives up */
       phase[c] = leaving; calm[c] = false }
  :: atomic { LIVE(c) && phase[c] == leaving && (!command[c] || age[c] == LATE) ->
#ifdef NO_NOT_AFTER
       if :: c == F && command[c] -> stale = true :: else fi;
#endif
       withdraw(c); attempt_ends(c) }
#ifdef NO_NOT_AFTER
  :: atomic { c == F && stale -> stale = false; acquire(c);
       assert(phase[c] != idle || !LIVE(c)) }
#endif
  od
}

#define MUST_ACT(c) (LIVE(c) && ((phase[c] == waiting && asks_in[c] == 0) || age[c] == LATE || \
                     (phase[c] == leaving && !command[c])))

inline time_passes(c) {
  if
  :: BUSY(c) && age[c] < LATE -> age[c]++; calm[c] = false
  :: else
  fi;
  if :: answer_left[c] > 0 -> answer_left[c]-- :: else fi;
  if :: asks_in[c] > 0 -> asks_in[c]-- :: else fi;
  if
  :: push[c] > 0 && push[c] < 3 -> push[c]++; calm[c] = false
  :: else
  fi
}

proctype world() {
end:
  do
  :: d_step { !MUST_ACT(L) && !MUST_ACT(P) && !MUST_ACT(F) ->
       if
       :: (WAITS_CALMLY(L) || WAITS_CALMLY(P)) && !ANY_HOLDS && (owner == 0 || provisional) ->
          wasted++;
          assert(wasted <= CLAIM)
       :: else -> wasted = 0
       fi;
       if
       :: (WAITS(L) || WAITS(P) || WAITS(F)) && owner == 0 ->
          silent_for++;
          assert(silent_for <= ASK)
       :: else -> silent_for = 0
       fi;
       time_passes(L); time_passes(P); time_passes(F);
       if
       :: belief > 0 ->
          belief--;
          if
          :: belief == 0 && phase[L] == held -> attempt_ends(L)
          :: belief == 0 && phase[P] == held -> attempt_ends(P)
          :: belief == 0 && phase[F] == held -> attempt_ends(F)
          :: else
          fi
       :: else
       fi;
       if
       :: left > 0 -> left--;
          if
          :: left == 0 ->
             if :: provisional && !LIVE(owner) -> REACH(8) :: else fi;
             owner = 0; provisional = false
          :: else
          fi
       :: else
       fi }
  :: atomic { !frozen && !dead -> frozen = true; calm[F] = false }
  :: atomic { frozen -> frozen = false }
  :: atomic { !dead -> dead = true; frozen = false; calm[F] = false; push[F] = 0 }
  :: atomic { q[0] != 0 -> q[0] = 0; q[1] = 0; q[2] = 0; calm[L] = false; calm[P] = false;
       calm[F] = false }
  od
}

init { atomic { run client(L); run poller(); run client(F); run world() } }
