// Does not compile: what a quorum is asked for here (HOLDFAST_ASKED) it cannot give.
#include <holdfast/quorum.hpp>

void ask(const holdfast::quorum& voters) { voters.HOLDFAST_ASKED; }
