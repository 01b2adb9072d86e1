"""What bounds on shuffled messages take for granted, each by a short name: answers name all that they need."""

from __future__ import annotations

from enum import StrEnum
from typing import final


@final
class Assumption(StrEnum):
    """Assumption of a bound by the name under which answers list it; ``meaning`` defines it.

    The first three stand in every answer about shuffled messages, the last in every audit, the others where they are
    made.
    """

    HONEST = "honest users"
    FRESH = "fresh randomness"
    UNLINKABLE = "unlinkable"
    NULL_SYMBOL = "null symbol"
    ONE_RANDOMIZER = "one randomizer"
    PUBLIC_RANDOMIZERS = "public randomizers"
    ENOUGH_USERS = "enough users"
    DROPOUT = "data-independent dropout"
    COLLUDING = "fixed colluding users"
    SAME_NUMBER = "same number of reports"
    MEMOISED = "memoised reports"
    DUMMIES = "honest dummies"
    FIXED_ROUNDS = "rounds fixed beforehand"
    NORMALISED = "normalised rows"
    SHARED_BUDGET = "shared budget"
    ONE_DIRECTION = "one direction"
    SOME_PAIRS = "part of the pairs"
    INDEPENDENT_RUNS = "independent runs"

    @property
    def meaning(self) -> str:
        """The definition, in one or two sentences."""
        return _MEANINGS[self]


_MEANINGS = {
    Assumption.HONEST: (
        "Every user who is counted runs the stated randomizer on the value that they hold. Users who send something "
        "else, or whose messages are known to whoever reads them, hide nobody: they are not counted in n."
    ),
    Assumption.FRESH: (
        "Each message is drawn with its own random bits. They are independent of all other bits, are never used "
        "again, and are unknown to the readers of the messages."
    ),
    Assumption.UNLINKABLE: (
        "A reader of the messages sees how often each message occurs, and nothing else. No order, time, size or "
        "address tells which user sent a message, or which messages of several rounds come from the same user."
    ),
    Assumption.NULL_SYMBOL: (
        "Neighbours replace the value of a user by a null symbol of the stated law. The other users hold values or "
        "the null symbol. Changing one value into another takes two such steps, of which the number covers one."
    ),
    Assumption.ONE_RANDOMIZER: (
        "All users run the same randomizer, which may be any; or they run different ones, and all rows of all "
        "randomizers are within exp(eps0) of each other. Users of disjoint alphabets do not hide each other."
    ),
    Assumption.PUBLIC_RANDOMIZERS: "Users run different randomizers, and it may be known who runs which.",
    Assumption.ENOUGH_USERS: (
        "At least the stated number of users send a message, whoever they are, colluding ones included."
    ),
    Assumption.DROPOUT: (
        "Each of the other users sends nothing with the stated probability, independently of all values and of each "
        "other. The number of messages is public. Users who stay away because of their value are not covered."
    ),
    Assumption.COLLUDING: (
        "Which users collude is fixed before any message is drawn. Their messages are known to the reader; all other "
        "users keep their random bits and messages secret."
    ),
    Assumption.SAME_NUMBER: (
        "Every user sends exactly the stated number of messages in each period. All messages of a period are shuffled "
        "together, in one batch; separate batches count as periods."
    ),
    Assumption.MEMOISED: (
        "Every user draws a message once, with random bits of its own, and sends that message in every period. The "
        "same users take part in all periods and hold the same values. What is randomized anew on top of the kept "
        "message changes nothing; fresh dummies, dropout in a period, and values or users that change are not covered."
    ),
    Assumption.DUMMIES: (
        "The stated number of dummies is drawn independently from the blanket distribution, shuffled with the "
        "messages, and unknown to the reader. Whoever adds them does so in every batch."
    ),
    Assumption.FIXED_ROUNDS: (
        "The list of rounds is fixed before the first. Values may change from round to round and may depend on earlier "
        "messages. Not covered: reports that are kept and sent again, a fixed number of participants drawn per round, "
        "participation that depends on the value, a number of rounds chosen on the way because budget is left."
    ),
    Assumption.NORMALISED: (
        "The matrix that was read had rounded entries. Each row was divided by its sum, and the number is about the "
        "matrix so made, not about each matrix that rounds to the one read; the full meaning of the answer bounds "
        "those."
    ),
    Assumption.SHARED_BUDGET: "The local budget is that of all parts of a composition together, not of each.",
    Assumption.ONE_DIRECTION: (
        "One of the two divergences of a pair of datasets is bounded. (eps, delta)-differential privacy needs both."
    ),
    Assumption.SOME_PAIRS: (
        "Users who change between the named values only are covered; those who change in another way are not."
    ),
    Assumption.INDEPENDENT_RUNS: (
        "In an audit, the runs of the program are independent: nothing that one run draws or keeps changes another "
        "run. Every probability of an error rests on it; no audit shows it."
    ),
}
