/* A holder that changes its mode, and answers that never come (shared/acquire.lua with a request to
 * replace, withdraw.lua, parts/give_back.lua; withdrawal.hpp, lock_session.cpp).
 *
 * Abstraction: no clock, no tokens, two modes: reader and writer. A holder changes from each to the
 * other, again and again, by a request that stands in the queue until it is granted or withdrawn. An
 * answer may be lost, or the holder may not wait for it; then it withdraws, and repeats that until it
 * is answered. A copy of a withdrawal may come at any later time. One reader and one writer come in
 * when they fit. A lease ends at any moment, but not while its holder counts on it. That no copy of
 * the question itself comes so late is shown in handover.pml; the order in the queue in shared.pml.
 * Left out: several threads that change one lease at once, and a holder that gives up to withdraw.
 *
 * Shows: whoever believes that it holds the lock goes together with all others, in the mode that
 * lease::mode() says.
 * Controls, which must fail: NO_DOUBT (it counts on the old mode until it hears), UNDONE_UNASKED (the
 * old mode comes back beside others), STAYS_AT_ONCE (it counts on the old mode as soon as it gives
 * up), CANNOT_UNDO_UNTOLD (it stays what it was where that cannot be restored). REACHED=N: that it
 * happens at all: (1) a change is undone, (2) one cannot be.
 */
#define REQUESTS 6 /* in all, so that the search ends */

mtype = { none, reader, writer };
mtype = { holding, changing, undoing, forsaking, gone };

/* The server: the holder's entry, and what it was before. */
byte entry = 0, before = 0; /* the request; 0: there is none */
mtype mode = none, old_mode = none;
bool queued = false;        /* the request for the change has a place */
bool r = false, w = false;  /* the others hold it, and believe so */

/* The holder. */
mtype phase = gone, has = none, wants = none;
byte mine = 0, asked = 0;   /* its request; and that of the change, */
byte replaces = 0;          /* which names the one that it replaces */
byte last = 0;
bool granted = false;       /* an answer, or a message, says so */
byte copy = 0; bool copy_restores = false;

#ifdef NO_DOUBT
#define IN_DOUBT false
#elif defined(STAYS_AT_ONCE)
#define IN_DOUBT (phase == changing)
#else
#define IN_DOUBT (phase == changing || phase == undoing)
#endif
/* What a reader and a writer have in common is the reader. */
#define COUNTS_AS_WRITER (has == writer && !(IN_DOUBT && wants == reader))
#define GO_TOGETHER (!(has != none && w) && !(COUNTS_AS_WRITER && r))
#define FITS(m) (!w && (m == reader || !r))
#ifdef REACHED
#define REACH(bit) assert(bit != REACHED)
#else
#define REACH(bit) skip
#endif

/* The answer: 0, 1 or 3 as the script gives it. */
inline withdraw(request, restores) {
  answer = 0;
  if :: request == last -> queued = false :: else fi;
  if
  :: entry == request && entry != 0 && restores && before != 0 ->
     if
#ifdef UNDONE_UNASKED
     :: true ->
#else
     :: FITS(old_mode) ->
#endif
        entry = before; mode = old_mode; before = 0; old_mode = none; answer = 1; REACH(1)
#ifndef UNDONE_UNASKED
     :: !FITS(old_mode) -> answer = 3; REACH(2)
#endif
     fi
  :: entry == request && entry != 0 && !(restores && before != 0) ->
     entry = 0; mode = none; before = 0; old_mode = none; answer = 1
  :: else
  fi
}

inline loses() { has = none; mine = 0 }

active proctype holder() {
  byte answer = 0;
end:
  do
  :: atomic { phase == gone && last < REQUESTS && entry == 0 && FITS(reader) ->
       if
       :: has = reader
       :: FITS(writer) -> has = writer
       fi;
       last++; mine = last; entry = mine; mode = has; phase = holding; assert(GO_TOGETHER)
     }
  :: atomic { phase == holding && last < REQUESTS && has != none -> /* asks for the change */
       last++; asked = last; replaces = mine; queued = true; granted = false;
       wants = (has == reader -> writer : reader);
       phase = changing
     }
  :: atomic { phase == changing && granted && has != none -> /* it has heard */
       mine = asked; asked = 0; has = wants; wants = none; granted = false; phase = holding;
       assert(GO_TOGETHER)
     }
  :: atomic { phase == changing && has != none -> granted = false; phase = undoing }
  :: atomic { (phase == changing || phase == undoing) && has == none ->
       granted = false; phase = forsaking /* lost or released meanwhile */ }
  :: atomic { phase == undoing || phase == forsaking ->
       if /* it comes later, as well */
       :: copy == 0 -> copy = asked; copy_restores = (phase == undoing)
       :: skip
       fi;
       if
       :: withdraw(asked, phase == undoing);
          if
          :: answer == 3 && phase == undoing ->
#ifdef CANNOT_UNDO_UNTOLD
             phase = holding; asked = 0; wants = none; assert(GO_TOGETHER)
#else
             loses(); phase = forsaking
#endif
          :: answer == 3 && phase == forsaking
          :: answer != 3 && phase == undoing ->
             phase = holding; asked = 0; wants = none; assert(GO_TOGETHER)
          :: answer != 3 && phase == forsaking -> phase = gone; asked = 0; wants = none
          fi;
          answer = 0
       :: skip /* or it is lost */
       fi
     }
  :: atomic { phase == holding -> /* the release names the grant */
       if :: withdraw(mine, false); answer = 0 :: skip /* lost */ fi;
       loses(); phase = gone }
  :: atomic { phase != holding && has != none -> loses() } /* its deadline; or it is released */
  od
}

active proctype server() {
  byte answer = 0;
end:
  do
  :: atomic { queued && entry == replaces -> /* the change is granted */
       if
       :: wants == reader || FITS(writer) ->
          before = entry; old_mode = mode; entry = asked; mode = wants; queued = false;
          if :: phase == changing -> granted = true :: else fi
       :: else
       fi }
  :: atomic { granted -> granted = false } /* the answer is lost */
  :: atomic { copy != 0 -> withdraw(copy, copy_restores); answer = 0; copy = 0;
       copy_restores = false }
  :: atomic { entry != 0 && has == none -> entry = 0; mode = none; before = 0; old_mode = none }
  :: atomic { !r && !w && mode != writer -> r = true; assert(GO_TOGETHER) }
  :: atomic { !r && !w && entry == 0 -> w = true; assert(GO_TOGETHER) }
  :: atomic { r -> r = false }
  :: atomic { w -> w = false }
  od
}
