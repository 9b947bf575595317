/* Who believes that it holds a lock of a quorum of three members: votes run out one by one, members
 * forget whom they voted for, and holders renew.
 *
 * Abstraction: no clock at all, no tokens. A vote may run out at any moment, but not before its client
 * stops counting on it: that is what deadlines are for, which count from before a question was
 * sent. Each client asks each member at any time, also again and again, and any answer may come late
 * or never. One member after another loses its memory, as often as it likes: but not while
 * anybody may count on what another has forgotten. A member that has forgotten stays out for that
 * long (the longest lease) and then votes again, for whoever asks or renews.
 * With STALE a member that forgets knows an older vote instead, which may have been taken back or
 * have run out since: so does the new master of a Sentinel group.
 *
 * Left out: how members without a counter found a hash slot together (`join`, `enter`), which is
 * what docs/quorum.md assumes something for; a master that lives on beside its successor; clocks
 * that are set forward. A late copy of a request is a vote that nobody counts on: each attempt has a
 * request id of its own, and what it was given is taken back or runs out. A client may count here on
 * votes of several attempts, of which the machine takes one at a time.
 *
 * Shows: no two clients believe at once that they hold the lock.
 * Controls, which must fail: VOTES_AT_ONCE (a member that has forgotten votes for whoever asks),
 * RENEWALS_AT_ONCE (it votes again for whoever renews), and with STALE also KNOWN_AT_ONCE (it
 * prolongs the vote that it knows).
 */
#define MEMBERS 3
#define MAJORITY 2
#define CLIENTS 2

byte vote[MEMBERS];      /* 0: for nobody */
byte forgotten[MEMBERS]; /* whom it had voted for when it lost its memory; 0: nobody */
bool believes[CLIENTS + 1];
/* Of a client and a member: the client counts on its vote, or an answer that says so is under way. */
bool counts[(CLIENTS + 1) * MEMBERS], hears[(CLIENTS + 1) * MEMBERS];

#define OF(who, m) ((who) * MEMBERS + (m))
#define may_count(who, m) (counts[OF(who, m)] || hears[OF(who, m)])
#define stays_out(m) (forgotten[m] != 0 && may_count(forgotten[m], m))
#define number_of(who) (counts[OF(who, 0)] + counts[OF(who, 1)] + counts[OF(who, 2)])

#ifdef VOTES_AT_ONCE
#define votes(m) true
#else
#define votes(m) (!stays_out(m))
#endif
#ifdef RENEWALS_AT_ONCE
#define votes_again(m) true
#else
#define votes_again(m) (!stays_out(m))
#endif
#ifdef KNOWN_AT_ONCE
#define prolongs(m) true
#else
#define prolongs(m) (!stays_out(m))
#endif

inline any_member() { if :: m = 0 :: m = 1 :: m = 2 fi }

inline give_up() {
  believes[me] = false;
  m = 0;
  do
  :: m < MEMBERS ->
       counts[OF(me, m)] = false;
       hears[OF(me, m)] = false;
       if :: vote[m] == me -> vote[m] = 0 :: skip fi; /* or its release is lost */
       m++
  :: m == MEMBERS -> break
  od
}

proctype client(byte me) {
  byte m;
end:
  do
  :: atomic { /* asks for a vote */
       !believes[me];
       any_member();
       if
       :: vote[m] == 0 && votes(m) -> vote[m] = me; hears[OF(me, m)] = true
       :: else
       fi;
       m = 0
     }
  :: atomic { /* renews */
       believes[me];
       any_member();
       if
       :: vote[m] == 0 && votes_again(m) -> vote[m] = me; hears[OF(me, m)] = true
       :: vote[m] == me && prolongs(m) -> hears[OF(me, m)] = true
       :: else
       fi;
       m = 0
     }
  :: atomic { /* an answer comes, or the vote that it tells of has run out first */
       any_member();
       if
       :: hears[OF(me, m)] ->
            hears[OF(me, m)] = false;
            counts[OF(me, m)] = true;
            if
            :: number_of(me) >= MAJORITY -> believes[me] = true; assert(!believes[3 - me])
            :: else
            fi
       :: else
       fi;
       m = 0
     }
  :: atomic { /* a vote runs out */
       any_member();
       counts[OF(me, m)] = false;
       hears[OF(me, m)] = false;
       if :: vote[m] == me -> vote[m] = 0 :: skip fi; /* or soon */
       if :: believes[me] && number_of(me) < MAJORITY -> give_up() :: else fi;
       m = 0
     }
  :: atomic { give_up(); m = 0 } /* releases the lock, or takes back the votes that it got */
  od
}

/* Only one of three may have lost what is counted on: the others' votes are remembered. */
proctype forgetting() {
  byte m, other;
end:
  do
  :: atomic {
       any_member();
       other = (m + 1) % MEMBERS;
       if
       :: !stays_out(other) && !stays_out((m + 2) % MEMBERS) ->
            if :: vote[m] != 0 && !stays_out(m) -> forgotten[m] = vote[m] :: else fi;
#ifdef STALE
            if :: vote[m] = 0 :: vote[m] = 1 :: vote[m] = 2 fi
#else
            vote[m] = 0
#endif
       :: else
       fi;
       m = 0;
       other = 0
     }
  od
}

init {
  atomic { run client(1); run client(2); run forgetting() }
}
