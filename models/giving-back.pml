/* A request that gives back what it was granted, and asks again under the same id: a grant came so
 * late that its lease may be over, or a waiter that no message reaches comes back as one that polls
 * (acquire_machine, give_back and give_back_missing; release.lua, withdraw.lua).
 *
 * Abstraction: no clock. Any answer may be too late to be believed. A lease may end at any moment at
 * which its holder does not believe in it. What gives back may be lost, with its answer or without,
 * is repeated, and up to two copies come at any later time. That no copy of the question for the
 * lock comes so late is shown in handover.pml.
 *
 * Shows: two clients never believe at once that they hold the lock.
 * Controls, which must fail: NAMES_NO_GRANT (what gives back a known grant takes away whichever the
 * request has), ASKS_AGAIN (a grant that is not known is given back, no answer comes, and the
 * request asks again).
 */
#define GRANTS 6 /* in all, so that the search ends */

mtype = { asking, returning, held, over };
mtype phase = asking;
byte owner = 0;  /* at the server: 0 nobody, 1 the request, 2 another client */
byte number = 0; /* of the last grant, which is the owner's */
byte mine = 0;   /* the grant that the request has heard of; 0: it has heard of none */
byte copy[2];    /* 1 + the grant that it names; 1: it names none; 0: there is no copy */
bool believes[3];

inline execute(named) {
#ifdef NAMES_NO_GRANT
  if :: owner == 1 -> owner = 0 :: else fi
#else
  if :: owner == 1 && (named == 0 || named == number) -> owner = 0 :: else fi
#endif
}

active proctype request() {
end:
  do
  :: atomic { phase == asking && (owner == 1 || (owner == 0 && number < GRANTS)) ->
       if :: owner == 0 -> owner = 1; number++ :: else fi;
       if
       :: mine = number; phase = held; believes[1] = true; assert(!believes[2])
       :: mine = number; phase = returning
       :: mine = 0; phase = returning /* granted in the queue, and nobody has heard it */
       fi
     }
  :: atomic { phase == held -> believes[1] = false; phase = returning }
  :: atomic { phase == returning -> execute(mine); phase = asking; mine = 0 }
  :: atomic { phase == returning -> /* no answer; it may come later */
       if
       :: execute(mine)
       :: copy[0] == 0 -> copy[0] = 1 + mine
       :: copy[1] == 0 -> copy[1] = 1 + mine
       fi;
       if
       :: mine != 0 /* it is repeated until it is answered */
#ifdef ASKS_AGAIN
       :: mine == 0 -> phase = asking
#else
       :: mine == 0 -> phase = over
#endif
       fi
     }
  od
}

active proctype network() {
end:
  do
  :: atomic { copy[0] != 0 -> execute(copy[0] - 1); copy[0] = 0 }
  :: atomic { copy[1] != 0 -> execute(copy[1] - 1); copy[1] = 0 }
  :: atomic { owner != 0 && !believes[owner] -> owner = 0 } /* its lease ends */
  od
}

active proctype other() {
end:
  do
  :: atomic { owner == 0 && number < GRANTS ->
       owner = 2; number++; believes[2] = true; assert(!believes[1]) }
  :: atomic { believes[2] -> believes[2] = false; if :: owner == 2 -> owner = 0 :: else fi }
  od
}
