/* A lock that several can hold, and a waiter in front of its queue that does not answer.
 *
 * Abstraction: two readers at most, or one writer. A reader A waits. A writer W may freeze, thaw and
 * die, its requests may be lost or come late, and it may give up. One more reader never waits: it
 * asks once, and keeps the lock for as long as it likes. With TWO there is also V, a writer that was
 * frozen as soon as it had asked, again and again; with NEVER, V wants more permits than there are
 * (there were more when it asked). A listens, or with POLLER it polls. Its messages may be lost or
 * late, its questions are answered at once. A third party may delete the queue. Tokens and the
 * dating of messages: handover.pml; tickets and polling of a mutex: provisional.pml. Ticks are half
 * a provisional grant; any number of them, and of requests, is explored. With COARSE they are whole
 * ones, so that the search with TWO ends; a waiter that polls must ask more often than that.
 *
 * Shows: no two clients that do not go together believe that they hold the lock; nobody is served
 * while a waiter with an older ticket waits, to which nothing has happened; and A, if it fits beside
 * those that hold the lock and all in front of it are silent, waits one provisional grant for each
 * of those. (And one before: W may have become silent just after it answered. It is asked again
 * after so long.)
 * Controls, which must fail: MODES_NOT_ASKED (whoever is first comes in while a place is free),
 * SILENT_NOT_PASSED, TIME_COUNTS_TWICE (a silent waiter that fits gets a whole provisional grant,
 * after those behind it have waited for it to answer), ONLY_ASKERS_MAKE_IT_ANSWER (what is given
 * back does not), NEVER_STAYS (a waiter that wants too much keeps its place). REACHED=15: that all of
 * these happen: (1) W is passed, (2) it comes back to its place, (4) it gets what is left of its
 * time, (8) A believes a message.
 */
#ifdef COARSE
#define LEASE 2
#define CLAIM 1
#define ASK 2
#define LATE 1
#else
#define LEASE 3
#define CLAIM 2 /* how long a provisional grant lasts */
#define ASK 3   /* a waiter that hears nothing asks again after that */
#define LATE 2  /* a request of this age is refused, and its client knows it */
#endif
#define POLL 1 /* a waiter that polls asks again after that */
#define PLACES 2
#define A 1
#define V 2
#define W 3
#define ONCE 4 /* the one more reader */
#ifdef TWO
#define SILENT_ONES 2
#else
#define SILENT_ONES 1
#endif

mtype = { idle, asking, waiting, held, leaving, nothing, acquire, give_back };

/* The server. */
byte left[4]; /* of each holder's lease; 0: it holds nothing */
bool provisional[4];
bool once;      /* the one more reader holds it, and renews its lease in time */
byte q[3];      /* the queue */
byte ticket[4]; /* by order of arrival: the oldest is 1; 0: the attempt has none */
byte proof[4];  /* it was asked to prove that it lives: 1 + the time left for that */
/* The clients. */
mtype phase[4] = idle;
bool command[4], answered[4], granted[4], knows[4]; /* its ticket */
byte age[4], answer_left[4], asks_in[4], belief[4];
byte push[4], push_claim[4]; /* a grant under way: 1 + its age, and what it says */
bool frozen, dead;
/* What is checked: calm[c], nothing has happened to it since it was told its place. */
bool calm[4];
byte wasted, seen;

mtype job = nothing;
bool enters; /* the one that asks would fit, if nobody were in front of it */
hidden byte w, i, k, grace, heir, me;

#define SILENT (frozen || dead)
#define LIVE(c) (c == A || (c == W && !SILENT))
#define GONE(c) (c == W && dead)
#define BUSY(c) (command[c] || answered[c])
#define WAITS_CALMLY(c) (LIVE(c) && phase[c] == waiting && calm[c])
#define IN_QUEUE(c) (q[0] == c || q[1] == c || q[2] == c)
#define MIN(a, b) (a < b -> a : b)
#ifdef POLLER
#define HEARS(c) (c == W)
#define PAUSE(c) (c == A -> POLL : ASK)
#else
#define HEARS(c) (c == W || c == A)
#define PAUSE(c) ASK
#endif
#ifdef NEVER
#define WEIGHT(c) (c == V -> PLACES + 1 : (c == W -> 2 : 1))
#define V_ASKS true
#else
#define WEIGHT(c) (c == W || c == V -> 2 : 1)
#define V_ASKS (SILENT_ONES == 2)
#endif
#define USED (once + (left[A] > 0) + 2 * ((left[V] > 0) + (left[W] > 0)))
#ifdef MODES_NOT_ASKED
#define FITS(c) (USED < PLACES)
#else
#define FITS(c) (USED + WEIGHT(c) <= PLACES)
#endif
/* When the first lease ends. */
#define END_OF(c) (left[c] > 0 -> left[c] : 2 * ASK)
#define FIRST_END MIN(END_OF(A), MIN(END_OF(V), END_OF(W)))

#ifdef REACHED
#define REACH(bit) seen = seen | bit
#else
#define REACH(bit) skip
#endif

/* ---- the server's scripts */

inline forget(c) {
  if
  :: ticket[c] != 0 ->
     if :: ticket[A] > ticket[c] -> ticket[A]-- :: else fi;
     if :: ticket[V] > ticket[c] -> ticket[V]-- :: else fi;
     if :: ticket[W] > ticket[c] -> ticket[W]-- :: else fi;
     ticket[c] = 0
  :: else
  fi;
  knows[c] = false
}

inline leave_queue(c) {
  if
  :: q[0] == c -> q[0] = q[1]; q[1] = q[2]; q[2] = 0
  :: q[1] == c -> q[1] = q[2]; q[2] = 0
  :: q[2] == c -> q[2] = 0
  :: else
  fi
}

inline join(c) {
  if
  :: IN_QUEUE(c)
  :: else ->
     if
     :: !knows[c] ->
        forget(c);
        ticket[c] = 1 + (ticket[A] > 0) + (ticket[V] > 0) + (ticket[W] > 0)
     :: else
     fi;
     if
     :: q[0] == 0 -> q[0] = c
     :: q[0] != 0 && ticket[c] < ticket[q[0]] ->
        q[2] = q[1]; q[1] = q[0]; q[0] = c;
        if :: c == W && WAITS_CALMLY(A) -> REACH(2) :: else fi
     :: q[0] != 0 && ticket[c] > ticket[q[0]] && q[1] == 0 -> q[1] = c
     :: q[0] != 0 && ticket[c] > ticket[q[0]] && q[1] != 0 && ticket[c] < ticket[q[1]] ->
        q[2] = q[1]; q[1] = c
     :: else -> q[2] = c
     fi
  fi
}

inline tell(c, time) {
  if
  :: !HEARS(c)
  :: HEARS(c) -> asks_in[c] = MIN(asks_in[c], time)
  :: HEARS(c) -> calm[c] = false /* lost */
  fi
}

#define PASSED(v, c) (v != c && left[v] == 0 && WAITS_CALMLY(v) && \
                      (ticket[c] == 0 || ticket[v] < ticket[c]))
#define in_order(c) assert(!PASSED(A, c) && !PASSED(W, c))

/* The one that asks, or one behind the first, if it fits. */
inline find_heir() {
  if
  :: enters -> heir = me
  :: !enters && q[1] != 0 && FITS(q[1]) -> heir = q[1]
  :: !enters && q[1] != 0 && !FITS(q[1]) && q[2] != 0 && FITS(q[2]) -> heir = q[2]
  :: else -> heir = 0
  fi;
#ifdef ONLY_ASKERS_MAKE_IT_ANSWER
  if :: me == 0 -> heir = 0 :: else fi
#endif
}

/* Lets those in front of the queue in. `me` asks; 0: somebody gives something back. `grace`: for how
 * long the first may still prove that it lives. */
inline pass_on() {
  do
  :: q[0] == 0 -> break
  :: q[0] != 0 ->
     w = q[0];
     find_heir();
     if
     :: left[w] > 0 -> leave_queue(w) /* a second place */
     :: left[w] == 0 && WEIGHT(w) > PLACES ->
#ifdef NEVER_STAYS
        break
#else
        leave_queue(w)
#endif
     :: left[w] == 0 && WEIGHT(w) <= PLACES && !FITS(w) ->
        if :: w == me -> break :: else fi;
        if
        :: GONE(w) -> leave_queue(w)
#ifndef SILENT_NOT_PASSED
        :: w != A && !GONE(w) && proof[w] == 1 && heir != 0 ->
           leave_queue(w); proof[w] = 0; calm[w] = false; REACH(1)
#endif
        :: else ->
           if
           :: heir != 0 && w != A ->
              if :: proof[w] == 0 -> proof[w] = CLAIM + 1; tell(w, 0) :: else fi;
              grace = proof[w] - 1;
              if :: heir != me -> k = MIN(grace, FIRST_END); tell(heir, k) :: else fi
           :: else -> k = FIRST_END; tell(w, k)
           fi;
           break
        fi
     :: left[w] == 0 && WEIGHT(w) <= PLACES && FITS(w) ->
        leave_queue(w);
        if
        :: GONE(w) && w != me
#ifndef TIME_COUNTS_TWICE
        :: w != me && !GONE(w) && proof[w] == 1 && heir != 0 -> calm[w] = false
#endif
        :: else ->
           in_order(w);
           if
           :: w == me -> left[w] = LEASE; provisional[w] = false
           :: w != me ->
              left[w] = CLAIM; provisional[w] = true;
#ifndef TIME_COUNTS_TWICE
              if :: proof[w] > 1 && proof[w] <= CLAIM -> left[w] = proof[w] - 1; REACH(4) :: else fi;
#endif
              if :: HEARS(w) -> push[w] = 1; push_claim[w] = left[w] :: else fi
           fi
        fi;
        proof[w] = 0
     fi
  od
}

/* The end of each step of a client, so that it stands here once. */
inline scripts() {
  if
  :: job == nothing
  :: job == give_back ->
     leave_queue(c);
     left[c] = 0; provisional[c] = false; proof[c] = 0
  :: job == acquire ->
     push[c] = 0; push_claim[c] = 0;
     if :: c == W -> wasted = 0 :: else fi; /* it has answered */
     if
     :: left[c] > 0 -> left[c] = LEASE; provisional[c] = false; job = nothing
     :: left[c] == 0 && q[0] == 0 && FITS(c) ->
        in_order(c);
        left[c] = LEASE; provisional[c] = false; job = nothing
     :: else ->
        join(c);
        proof[c] = 0; me = c; enters = FITS(c)
     fi
  fi;
  if :: job != nothing -> pass_on(); enters = false; me = 0 :: else fi
}

/* ---- the clients */

#define TOGETHER(c) (c == W -> belief[A] + once == 0 : belief[W] == 0)

inline hold(c, time) {
  phase[c] = held; belief[c] = time; calm[c] = false; asks_in[c] = 0; push[c] = 0;
  push_claim[c] = 0;
  assert(TOGETHER(c));
  if :: c == A -> wasted = 0 :: else fi;
  forget(c)
}

inline settled(c) {
  command[c] = false; answered[c] = false; granted[c] = false; age[c] = 0; answer_left[c] = 0
}

inline attempt_ends(c) {
  phase[c] = idle; calm[c] = false; asks_in[c] = 0; push[c] = 0; push_claim[c] = 0; belief[c] = 0;
  settled(c);
  forget(c)
}

proctype client(byte c) {
end:
  do
  :: atomic {
       if
       :: LIVE(c) && (phase[c] == idle || (phase[c] == waiting && asks_in[c] == 0)) ->
          phase[c] = asking; command[c] = true
       :: c == V && V_ASKS && phase[c] == idle -> phase[c] = asking; command[c] = true
       :: c == V && answered[c] && !IN_QUEUE(c) && left[c] == 0 -> attempt_ends(c)
       :: command[c] && age[c] < LATE && phase[c] == held -> /* a renewal is executed */
          command[c] = false; answered[c] = true; granted[c] = (left[c] > 0);
          if
          :: left[c] > 0 ->
             left[c] = LEASE; provisional[c] = false; answer_left[c] = LEASE - age[c]
          :: else
          fi
       :: command[c] && age[c] < LATE && phase[c] != held -> /* a request is executed */
          command[c] = false; answered[c] = true; job = acquire
       :: LIVE(c) && answered[c] && phase[c] == asking ->
          if
          :: granted[c] && answer_left[c] > 0 -> hold(c, answer_left[c])
          :: granted[c] && answer_left[c] == 0 ->
             job = give_back; phase[c] = waiting; asks_in[c] = 0; calm[c] = false
          :: !granted[c] -> phase[c] = waiting; knows[c] = true
          fi;
          settled(c)
       :: LIVE(c) && answered[c] && phase[c] == held ->
          if
          :: granted[c] ->
             if :: answer_left[c] > belief[c] -> belief[c] = answer_left[c] :: else fi;
             settled(c)
          :: !granted[c] -> attempt_ends(c)
          fi
       :: LIVE(c) && age[c] == LATE && phase[c] == asking -> /* it was not answered in time */
          phase[c] = waiting; asks_in[c] = 0; calm[c] = false; settled(c)
       :: LIVE(c) && age[c] == LATE && phase[c] == held -> settled(c)
       :: LIVE(c) && push[c] > 0 && phase[c] == waiting -> /* believed while it is young */
          i = (2 * (push[c] - 1) <= push_claim[c] -> push_claim[c] + 1 - push[c] : 0);
          push[c] = 0; push_claim[c] = 0;
          if
          :: i > 0 -> hold(c, i); if :: c == A -> REACH(8) :: else fi
          :: i == 0 -> asks_in[c] = 0
          fi
       :: push[c] > 0 -> push[c] = 0; push_claim[c] = 0; calm[c] = false /* lost */
       :: LIVE(c) && phase[c] == held && !BUSY(c) -> command[c] = true /* it renews */
       :: LIVE(c) && phase[c] == held -> job = give_back; attempt_ends(c)
       :: c == W && LIVE(c) && (phase[c] == waiting || phase[c] == asking) -> /* it gives up */
          phase[c] = leaving; calm[c] = false
       :: LIVE(c) && phase[c] == leaving && (!command[c] || age[c] == LATE) ->
          job = give_back; attempt_ends(c)
       fi;
       grace = 0;
       i = (job == acquire);
       scripts();
       job = nothing;
       if
       :: i == 0
       :: i == 1 && left[c] > 0 -> granted[c] = true; answer_left[c] = left[c] - age[c]
       :: else ->
          calm[c] = IN_QUEUE(c); granted[c] = false;
          k = FIRST_END;
          asks_in[c] = MIN(PAUSE(c), k);
          if :: grace > 0 && grace < asks_in[c] -> asks_in[c] = grace :: else fi
       fi }
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
  if :: push[c] > 0 && push[c] < 3 -> push[c]++; calm[c] = false :: else fi;
  if
  :: belief[c] > 0 -> belief[c]--; if :: belief[c] == 0 -> attempt_ends(c) :: else fi
  :: else
  fi;
  if :: proof[c] > 1 -> proof[c]-- :: else fi;
  if
  :: left[c] > 0 -> left[c]--; if :: left[c] == 0 -> provisional[c] = false :: else fi
  :: else
  fi
}

/* A fits beside those that hold the lock and answer, and all in front of it are silent. */
#define IS_SILENT(c) (c == V || (c == W && SILENT))
#define ANSWERING (once + 2 * (left[W] > 0 && !(SILENT && provisional[W])) + \
                   2 * (left[V] > 0 && !provisional[V]))
#define FIRST_THAT_LIVES (q[0] == A || (IS_SILENT(q[0]) && q[1] == A) || \
                          (IS_SILENT(q[0]) && IS_SILENT(q[1]) && q[2] == A))
#define KEPT_WAITING (WAITS_CALMLY(A) && left[A] == 0 && ANSWERING < PLACES && FIRST_THAT_LIVES)

proctype world() {
end:
  do
  :: d_step { !MUST_ACT(A) && !MUST_ACT(W) && !BUSY(A) ->
       if
       :: KEPT_WAITING -> wasted++; assert(wasted <= CLAIM * (SILENT_ONES + 1))
       :: else -> wasted = 0
       fi;
#ifdef REACHED
       assert(seen != REACHED);
#endif
       time_passes(A); time_passes(V); time_passes(W) }
  :: atomic { !SILENT -> frozen = true; calm[W] = false }
  :: atomic { frozen -> frozen = false; wasted = 0 }
#if (!defined(TWO) || defined(COARSE)) && !defined(NEVER)
  :: atomic { !dead -> dead = true; frozen = false; calm[W] = false; push[W] = 0; push_claim[W] = 0 }
  :: atomic { q[0] != 0 ->
       q[0] = 0; q[1] = 0; q[2] = 0; proof[V] = 0; proof[W] = 0; calm[A] = false; calm[W] = false;
       wasted = 0 }
#endif
  :: atomic {
       if
       :: !once && q[0] == 0 && FITS(A) -> once = true; assert(belief[W] == 0)
       :: !once && q[0] != 0 -> enters = FITS(A); me = ONCE
       :: once -> once = false
       fi;
       pass_on();
       enters = false; me = 0 }
  od
}

init { atomic { run client(A); run client(V); run client(W); run world() } }
