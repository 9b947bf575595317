/* The fencing tokens of one server: parts/draw_major.lua and count_on.lua.
 *
 * Abstraction: a step of the clock is 2; a grant takes one at least, and so does a failover, as both
 * take more than 2 us. LEAD, which is 10 s, is 4 steps. The counter may be lost at any moment, again
 * and again; or, with FAILOVER, the server gives way to a replica that has what the counter was at
 * any moment before. The client that asks names the newest token as its floor, or none; with FLOOR
 * also one that is ahead of the clock, as another server's clock may have drawn it. With BACK the
 * clock is set back once, by so much. Minors, and several locks or counters, are left out.
 *
 * Shows: each token is larger than all before it: while the counter is lost, also with floors that
 * are ahead; while nothing is lost and masters change (FAILOVER); while the clock is set back and
 * nothing is lost (KEPT); if the clock is set back by less than LEAD when it is not behind the
 * counter (SETTLED), also while the counter is lost; and while the counter is lost and masters
 * change (LOST_AND_FAILOVER), if the replica has heard of the loss and of a token since (HEARD).
 * Controls, which must fail: NO_LEAD (a lost counter begins with the clock), FAR_FLOORS (any floor is
 * believed), NO_COUNTER (tokens are the time), with HEARD also ONE_BY_ONE (a counter that is ahead of
 * the clock does not grow with it). And what guarantees.md excludes, since it takes two faults: a loss with the
 * clock set back by LEAD, or by less when the counter is new; a floor and a failover; a loss and a
 * failover.
 */
#define LEAD 8
#define BEGINNING 40
#define END 70

byte now = BEGINNING;
bool drawn = false;                      /* in this step */
byte shown = BEGINNING - 2, written = 0; /* the counter, 0: there is none; and when it was written,
                                            if it was ahead of the clock then */
byte old_shown = BEGINNING - 2, old_written = 0; /* the replica's */
byte newest = BEGINNING - 2;
bool set_back = false;
hidden byte floor, least, major;

#ifdef NO_LEAD
#define BEGIN now
#else
#define BEGIN (now + LEAD)
#endif
#ifdef FAR_FLOORS
#define IS_FAR(f) false
#else
#define IS_FAR(f) (f >= now + LEAD && shown < f) /* `shown` is 0 where there is none */
#endif
#ifdef ONE_BY_ONE
#define GROWS false
#else
#define GROWS (shown != 0 && written != 0)
#endif
#ifdef SETTLED
#define MAY_BE_SET_BACK (newest <= now)
#else
#define MAY_BE_SET_BACK true
#endif
#define MAX(a, b) (a > b -> a : b)

inline draw() {
#ifdef NO_COUNTER
  least = now;
#else
  if
  :: shown == 0 -> least = BEGIN
  :: GROWS && now >= written + 4 -> least = shown + (now - written) / 2
  :: shown != 0 && !(GROWS && now >= written + 4) -> least = shown + 1
  fi;
#endif
  if
  :: floor >= now && IS_FAR(floor)
  :: else ->
     major = MAX(now, least);
     major = MAX(major, floor + 1);
     if :: shown != 0 && floor < now && written == 0 && shown < now -> major = now :: else fi;
     shown = major;
     written = (major > now -> now : 0);
     drawn = true;
     assert(major > newest);
     newest = major
  fi;
  floor = 0; least = 0; major = 0
}

active proctype server() {
end:
  do
  :: atomic { now < END -> now = now + 2; drawn = false }
  :: atomic { !drawn -> draw() }
  :: atomic { !drawn -> floor = newest; draw() }
#ifdef FLOOR
  :: atomic { !drawn -> floor = now + LEAD - 1; draw() }
  :: atomic { !drawn -> floor = now + LEAD + 1; draw() }
#endif
#if defined(LOST_AND_FAILOVER) || (!defined(FAILOVER) && !defined(KEPT))
  :: atomic { shown != 0 ->
       shown = 0; written = 0;
#ifdef HEARD
       old_shown = 0; old_written = 0
#endif
     }
#endif
#if defined(FAILOVER) || defined(LOST_AND_FAILOVER)
  :: atomic { old_shown != shown -> old_shown = shown; old_written = written }
#ifdef HEARD
  :: atomic { shown != old_shown && old_shown != 0 -> shown = old_shown; written = old_written; drawn = true }
#else
  :: atomic { shown != old_shown -> shown = old_shown; written = old_written; drawn = true }
#endif
#endif
#ifdef BACK
  :: atomic { !set_back && MAY_BE_SET_BACK -> set_back = true; now = now - BACK; drawn = false }
#endif
  od
}
