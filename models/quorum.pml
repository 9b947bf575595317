/* A lock of a quorum of three members, and its tokens: quorum/acquire.lua, keep.lua, release.lua and
 * quorum_machine, one attempt of each client.
 *
 * Abstraction: no clock at all. A vote may vanish at any moment, as if it had run out, a clock had
 * jumped, or the member had been restarted with its counter alone. Clients pause for any time
 * between any two steps, members may not answer, and the counters differ at first. A request is
 * asked once; a renewal and a late copy of one may come at any later time. Each member hears of a
 * renewal and of the release at a time of its own, or never.
 *
 * Left out, since it only makes a major larger: floors of clients, and clocks from which counters
 * begin. Left out, since it only refuses: not-after, and members that stay out. A request that fails
 * is asked again with another id, so it is another client here.
 *
 * A vote above the token that comes when the token is chosen does not count for it. The token may be
 * chosen anew at any moment then; the machine does it when it has to.
 *
 * Shows: whoever has won has a larger token than everybody who had won before he asked; no two who
 * win have the same token; a vote that was released is not given again to a late renewal.
 * Controls: NO_WRITE_BACK (the token is chosen, and nobody told) and FORGETS (a member loses its
 * counter and votes at once) must fail, and LATE_RENEWALS (a release does not raise the counter).
 * So must ABOVE_COUNTS, as it was once: a late vote above the token counts for it (A has voted for X
 * with 3, B with 2; B's vote vanishes before it is told 3; Y gets B and C, whose larger major is 3,
 * too, wins and releases; now C votes for X, with 5: X has won by A and C, and has 3 like Y).
 * REACHED must fail as well: somebody wins with a token that was chosen anew.
 * COPIES must fail, too: one question for a vote is executed again, after the vote that it got has
 * vanished. The client takes the second vote for the first, although another had the lock in between,
 * and wins with the same token. Nothing that we use executes a question twice (docs/quorum.md). With
 * NAMED who asks a member to agree says which vote it means, and the search ends without a violation
 * (20,826,443 states): that is what would mend it.
 * Exclusion, and members that lose their memory: quorum-belief.pml.
 */
#define MEMBERS 3
#define MAJORITY 2
#ifndef CLIENTS
#define CLIENTS 2
#endif

byte counter[MEMBERS];
byte vote[MEMBERS]; /* 0: for nobody */
#ifdef COPIES
byte with[MEMBERS]; /* the major of that vote */
bool copied = false;
#define note_major(m) with[m] = counter[m]
#else
#define note_major(m) skip
#endif
#ifdef NAMED /* needs COPIES */
#define is_the_vote(m) (vote[m] == me && (with[m] == major[m] || with[m] == token))
#else
#define is_the_vote(m) (vote[m] == me)
#endif
byte largest = 0;   /* token of those who have won */
bool used[20];      /* tokens of those who have won */

inline count_members(condition, result) {
  result = 0;
  m = 0;
  do
  :: m < MEMBERS -> if :: condition -> result++ :: else fi; m++
  :: m == MEMBERS -> break
  od
}

inline choose_token() { /* the largest; who is below it must agree first */
  token = 0;
  m = 0;
  do
  :: m < MEMBERS -> if :: major[m] > token -> token = major[m] :: else fi; m++
  :: m == MEMBERS -> break
  od;
  m = 0;
  do
  :: m < MEMBERS -> agreed[m] = (major[m] == token); m++
  :: m == MEMBERS -> break
  od;
  m = 0
}

inline forget_answers() { /* what is not needed any more makes no further states */
  m = 0;
  do
  :: m < MEMBERS -> asked[m] = false; major[m] = 0; agreed[m] = false; m++
  :: m == MEMBERS -> break
  od;
  m = 0; many = 0; before = 0
}

proctype client(byte me) {
  byte m, many, token = 0, before;
#ifdef REACHED
  bool anew = false;
#endif
  byte major[MEMBERS];
  bool asked[MEMBERS], agreed[MEMBERS];

  before = largest;
  do
  :: atomic { /* a member is asked, in any order; it votes or is another's; or it is not heard of */
       if
       :: !asked[0] -> m = 0
       :: !asked[1] -> m = 1
       :: !asked[2] -> m = 2
       fi;
       asked[m] = true;
       if
       :: vote[m] == 0 ->
            counter[m]++;
            vote[m] = me;
            note_major(m);
            major[m] = counter[m]
       :: skip
       fi;
       m = 0
     }
#ifdef COPIES
  :: atomic { /* a copy of a question; nobody hears the answer */
       !copied && (asked[0] || asked[1] || asked[2]);
       if
       :: asked[0] -> m = 0
       :: asked[1] -> m = 1
       :: asked[2] -> m = 2
       fi;
       copied = true;
       if
       :: vote[m] == 0 -> counter[m]++; vote[m] = me; note_major(m)
       :: else
       fi;
       m = 0
     }
#endif
  :: atomic { count_members(major[m] > 0, many);
       if :: many >= MAJORITY :: else -> goto over fi;
       choose_token()
     }
     break
  :: goto over
  od;

  /* Those below the token are told; who has lost the vote refuses. Others may vote yet. */
  do
  :: atomic {
       if
       :: !asked[0] -> m = 0
       :: !asked[1] -> m = 1
       :: !asked[2] -> m = 2
       fi;
       asked[m] = true;
       if
       :: vote[m] == 0 ->
            counter[m]++;
            vote[m] = me;
            note_major(m);
            major[m] = counter[m];
#ifdef ABOVE_COUNTS
            agreed[m] = (major[m] >= token)
#else
            agreed[m] = (major[m] == token)
#endif
       :: skip
       fi;
       m = 0
     }
#ifdef COPIES
  :: atomic { /* a copy of a question; nobody hears the answer */
       !copied && (asked[0] || asked[1] || asked[2]);
       if
       :: asked[0] -> m = 0
       :: asked[1] -> m = 1
       :: asked[2] -> m = 2
       fi;
       copied = true;
       if
       :: vote[m] == 0 -> counter[m]++; vote[m] = me; note_major(m)
       :: else
       fi;
       m = 0
     }
#endif
  :: atomic {
       if
       :: major[0] > 0 && major[0] <= token && !agreed[0] -> m = 0
       :: major[1] > 0 && major[1] <= token && !agreed[1] -> m = 1
       :: major[2] > 0 && major[2] <= token && !agreed[2] -> m = 2
       fi;
#ifdef NO_WRITE_BACK
       agreed[m] = true;
#else
       if
       :: is_the_vote(m) ->
            if :: counter[m] < token -> counter[m] = token :: else fi;
#ifdef COPIES
            with[m] = token;
#endif
            agreed[m] = true
       :: else -> major[m] = 0
       fi;
#endif
       m = 0
     }
#ifndef ABOVE_COUNTS
  :: atomic { /* chosen anew: those below it are told again */
       major[0] > token || major[1] > token || major[2] > token;
       choose_token();
#ifdef REACHED
       anew = true
#endif
     }
#endif
  :: break
  od;
  atomic { count_members(agreed[m], many);
    if
    :: many >= MAJORITY ->
         assert(token > before);
         assert(!used[token]);
         used[token] = true;
#ifdef REACHED
         assert(!anew);
#endif
         if :: token > largest -> largest = token :: else fi;
         forget_answers()
    :: else -> goto over
    fi
  }

  /* A renewal votes again where nobody else was voted for since. */
  do
  :: atomic {
       if :: m = 0 :: m = 1 :: m = 2 fi;
       if
       :: vote[m] == 0 && counter[m] <= token -> vote[m] = me; counter[m] = token; note_major(m)
       :: vote[m] == me && counter[m] < token -> counter[m] = token
       :: else
       fi;
       m = 0
     }
  :: break
  od;
over:
  atomic { forget_answers() }
  do
  :: atomic { /* the release; then a copy of the renewal that was under way */
       if
       :: !asked[0] -> m = 0
       :: !asked[1] -> m = 1
       :: !asked[2] -> m = 2
       fi;
       asked[m] = true;
       if :: vote[m] == me -> vote[m] = 0 :: else fi;
#ifndef LATE_RENEWALS
       if :: token > 0 && counter[m] <= token -> counter[m] = token + 1 :: else fi;
#endif
#ifndef FORGETS
       assert(!(token > 0 && vote[m] == 0 && counter[m] <= token));
#endif
       m = 0
     }
  :: break
  od
}

active proctype clocks() {
  byte dropped = 0;
end:
  do
  :: dropped < 2 -> atomic { dropped++; if :: vote[0] = 0 :: vote[1] = 0 :: vote[2] = 0 fi }
#ifdef FORGETS
  :: dropped < 2 -> atomic { dropped = 2; vote[0] = 0; counter[0] = 0 }
#endif
  od
}

init {
  atomic {
    if :: counter[0] = 2 :: skip fi;
    if :: counter[1] = 1 :: skip fi;
    byte c = 1;
    do
    :: c <= CLIENTS -> run client(c); c++
    :: c > CLIENTS -> break
    od
  }
}
