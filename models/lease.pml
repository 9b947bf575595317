/* A lease on one server, with a fencing check at the resource.
 *
 * Abstraction: no clock at all. A lease may end at any moment, and a holder may pause for any time
 * between any two of its steps, so every holder may write after others have held and written. An
 * end at any moment stands also for a lease that is broken by an operator, and a grant for each of
 * those that threads of one client pass on among themselves: these have the same major and a larger
 * minor, which is below the next major. Tokens are counted here; tokens.pml shows how they are drawn.
 *
 * Shows: the resource never takes a write that is older than one it has taken.
 * Control: NO_FENCING (the resource takes every write) must fail.
 */
#define GRANTS 6 /* in all, so that the search ends */

byte owner = 0; /* 0: free */
byte token = 0; /* of the last grant */
byte gate = 0;  /* the largest token that the resource has seen */
byte newest_write = 0;

proctype client(byte me) {
  byte mine;
end:
  do
  :: atomic { owner == 0 && token < GRANTS ->
       owner = me;
       token++;
       mine = token
     }
     /* Up to two writes, each after a pause of any length. */
     do
     :: atomic {
          if
#ifndef NO_FENCING
          :: mine < gate -> skip /* refused */
#endif
          :: mine >= gate -> gate = mine; assert(mine >= newest_write); newest_write = mine
#ifdef NO_FENCING
          :: mine < gate -> assert(mine >= newest_write)
#endif
          fi
        }
     :: break
     od;
     atomic { /* The release compares the whole value, so a late one takes nothing away. */
       if
       :: owner == me && token == mine -> owner = 0
       :: else
       fi
     }
  od
}

active proctype expiry() {
end:
  do
  :: owner != 0 -> owner = 0
  od
}

init {
  atomic { run client(1); run client(2); run client(3) }
}
