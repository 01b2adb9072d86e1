"""What the text uses and does not state: inputs that are covered, finitely many outputs, infima that are positive."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from proofs_checks._errata import finding, refuted
from proofs_checks.decomposition._cases import PAIR, REVEALING, named_channels, pointwise, shown
from symshuffle.channels.channel import Channel
from symshuffle.decompositions.model import Decomposition, primary_decomposition
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import Claim, Clause, Control, Statement, by_cases, for_all, serving
from symshuffle.ledger.claims.parts import Erratum

# -- which inputs the third condition of Definition 7 is about


def _check_covered(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Three inputs, n = 2, every background: the blanket's bound against that of a decomposition over the outputs.

    Of those that cover the stated inputs it is the best one. Two mechanisms, three orders, in rationals.
    """
    labelled = named_channels(("krr", {"lam": 2, "k": 3}), ("subset-selection", {"lam": 2, "k": 3, "s": 2}))
    for label, channel in labelled:
        blanket = primary_decomposition(channel, PAIR).reduction_pair()
        for background in (1, 0, 2):
            covered = statement((background,), tuple(range(channel.num_inputs)))
            floor: Any = channel.restrict(covered).blanket()
            pair = pointwise(channel.rows[0], channel.rows[1], floor).reduction_pair()
            for exp_eps in (Fraction(1), Fraction(6, 5), Fraction(3, 2)):
                at = f"{label}, n=2, exp(eps)={exp_eps}, background {background}"
                yield compare(blanket.divergence(2, exp_eps), pair.divergence(2, exp_eps), "<=", at=at)


# -- how many components are needed


def _graded(pairs: int) -> Channel:
    r"""The outputs :math:`\pm1..\pm m` of the randomizer of the text, and one output for all others.

    Input 0 sends y with probability :math:`2^{-|y|-1}(1\pm2^{-|y|-1})`, the sign that of y; input 1 the other way.
    """
    masses = [
        (Fraction(1, 2 ** (y + 1)), Fraction(sign, 2 ** (y + 1))) for y in range(1, pairs + 1) for sign in (1, -1)
    ]
    rest = Fraction(1, 2**pairs)
    return Channel.from_rows([[*(mass * (1 + side * tilt) for mass, tilt in masses), rest] for side in (1, -1)])


def _slopes(channel: Channel) -> set[Fraction]:
    """The slopes of D_alpha of the two rows in alpha: minus the mass, under the second one, of all larger ratios."""
    columns: Any = list(channel.columns())
    levels = {Fraction(0), *(a / b for a, b in columns)}
    return {-sum((b for a, b in columns if a / b > level), Fraction(0)) for level in levels}


def _check_finite(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """One user: the slopes of the divergence of k components, at most k + 1, against those of the outputs +1..+(k+1).

    These do not depend on how the outputs beyond are merged: their ratios are closer to 1. k <= 6, in rationals.
    """
    for k in range(1, 7):
        channel = _graded(k + 1)
        upper = {slope for slope in _slopes(channel) if slope > -Fraction(1, 2)}  # ratios above 1
        yield compare(
            len(upper), statement(k, None), "<=", at=f"{k} components: pieces at alpha >= 1, outputs up to {k + 1}"
        )


def _check_finite_outputs(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Two rows on up to nine outputs: their divergence has at most as many pieces as the stated components allow.

    The decomposition over the outputs has the divergences of the blanket, for one user those of the rows.
    """
    for pairs in (1, 2, 3, 4):
        channel = _graded(pairs)
        at = f"{channel.num_outputs} outputs"
        yield compare(len(_slopes(channel)), statement(None, channel.num_outputs), "<=", at=f"pieces, {at}")
        for exp_eps in (Fraction(1), Fraction(21, 20), Fraction(5, 4)):
            rows: Any = list(channel.columns())
            direct = sum((max(Fraction(0), a - exp_eps * b) for a, b in rows), Fraction(0))
            found = primary_decomposition(channel, PAIR).reduction_pair().divergence(1, exp_eps)
            yield compare(found, direct, at=f"one user, exp(eps)={exp_eps}, {at}")


# -- ratios at an infimum of 0


def _ratios(a: Fraction, b: Fraction, c: Fraction) -> Any:
    """The set S of an output, None if it is in none: the ratios to an infimum of 0 are not defined."""
    return (a / c, b / c) if c else None


def _proportions(a: Fraction, b: Fraction, c: Fraction) -> Any:
    """The ratio a : b : c, with sum 1."""
    total = a + b + c
    return (a / total, b / total) if total else None


def _infinite(a: Fraction, b: Fraction, c: Fraction) -> Any:
    """A positive number over 0 read as infinity."""
    return _ratios(a, b, c) if c else tuple("infinite" if mass else "0/0" for mass in (max(a, b),) * 2)


def _check_ratios(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Two channels that are not LDP, and one that is: outputs merged by the stated key.

    The merged weights of the pair are to have total 1, and the divergence of the unmerged ones; n <= 2, two orders.
    """
    for label, channel in [*named_channels(("identity", {"k": 2}), ("krr", {"lam": 3, "k": 4})), ("", REVEALING)]:
        primary = primary_decomposition(channel, PAIR)
        groups: dict[Any, list[Any]] = {}
        triples: list[tuple[Any, Any, Any]] = list(zip(primary.a, primary.b, primary.c, strict=True))
        for triple in triples:
            if (key := statement(*triple)) is not None:
                groups.setdefault(key, []).append(triple)
        a, b, c = (tuple(sum((t[i] for t in group), Fraction(0)) for group in groups.values()) for i in range(3))
        at = label or shown(channel)
        yield compare(sum(a, Fraction(0)), Fraction(1), at=f"total weight of the first row, {at}")
        yield compare(sum(b, Fraction(0)), Fraction(1), at=f"total weight of the second row, {at}")
        if sum(a, Fraction(0)) != 1:
            continue
        merged = Decomposition(a, b, c, primary.beta).reduction_pair()
        for n in (1, 2):
            for exp_eps in (Fraction(1), Fraction(6, 5)):
                before, after = (pair.divergence(n, exp_eps) for pair in (primary.reduction_pair(), merged))
                yield compare(after, before, at=f"divergence, n={n}, exp(eps)={exp_eps}, {at}")


# -- the same record reported twice


def _check_twice(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Two reports on one record: the bound of the product of the optimal decompositions, and the optimal bound.

    Neighbours (0, 0) and (1, 1), others hold (x, x). Three mechanisms, n <= 2, three orders, in rationals.
    """
    for label, single in named_channels(("rr", {"lam": 2}), ("krr", {"lam": 2, "k": 3})):
        k = single.num_inputs
        joint, pair = single.tensor(single), (0, k + 1)
        product = primary_decomposition(joint, pair).reduction_pair()
        twice = primary_decomposition(joint.restrict([x * (k + 1) for x in range(k)]), PAIR).reduction_pair()
        for n in (2, 1):
            for exp_eps in (Fraction(3), Fraction(2), Fraction(1)):
                best, bound = (one.divergence(n, exp_eps) for one in (twice, product))
                at = f"two reports of {label} on one record, n={n}, exp(eps)={exp_eps}"
                yield from statement(best, bound, at)
                if k == n == 2 and exp_eps == 3:
                    found = compare((best, bound), (Fraction(4, 81), Fraction(2, 27)), at=at)
                    yield from serving("instance", [found])


def _relation(relation: str, share: Fraction = Fraction(1)) -> Callable[..., Iterator[Comparison]]:
    def stated(best: Fraction, bound: Fraction, at: str) -> Iterator[Comparison]:
        yield compare(best, share * bound, relation, at=at)

    return stated


CLAIMS: Final[Sequence[Claim]] = (
    refuted(
        "one-background",
        "which inputs a decomposition has to cover",
        (
            Clause(
                "said",
                r"Definition 7 asks for the third equation at the inputs $x_2,\dots,x_n$ of the other users, and "
                "Section 4 says that the paradigm has all possible decompositions and none better than the "
                "blanket.",
                "quoted",
            ),
            Clause("used", "Theorem 6 uses more: that the equation holds for all inputs of the randomizer."),
            Clause(
                "instance",
                r"A decomposition for one background does better: 3-RR, $e^{\varepsilon_0}=2$, "
                r"$e^\varepsilon=\frac65$, $n=2$, $x_2=x_1^1$, weights $c_y=R(x_2)(y)$, $\beta=0$: $\frac1{10}$ "
                r"against $\frac{11}{80}$.",
            ),
            Clause("user", "So do weights $c_j$ that depend on the user, which the definition does not admit."),
        ),
        lambda background, inputs: background,
        lambda background, inputs: inputs,
        correction="If the third equation is supposed for every input of the randomizer, Theorem 6 holds.",
        source="decomposition, Definition 7, Theorem 6; abstract and Section 4",
        assumptions=(),
        scope="two mechanisms with three inputs, n = 2, every background, three orders",
        check=_check_covered,
        controls=(Control("all inputs but the first", lambda background, inputs: inputs[1:]),),
        erratum=Erratum(
            "hypothesis",
            "reading",
            "Remark 2 names the randomizer and the pair as what a decomposition depends on, and the proof says all "
            "inputs: they are meant.",
            quote="encompasses all possible decompositions",
        ),
        obligations=for_all("background", "inputs", clause=("used", "instance", "user")),
    ),
    refuted(
        "infinitely-many-outputs",
        "a decomposition that is equivalent to the blanket, for any randomizer",
        (
            Clause(
                "said",
                "Section 4.2 and Theorem 5: for every local randomizer the general clone has a decomposition "
                "that is equivalent to the blanket, with components over the outputs.",
            ),
            Clause(
                "many outputs",
                "Definition 7 has finitely many components, and outputs may be infinitely many, as those of the "
                "Laplace mechanism, to which the paper applies it.",
            ),
            Clause(
                "corners",
                r"Two inputs, outputs $\pm1,\pm2,\dots$ with probabilities $2^{-|y|-1}(1\pm2^{-|y|-1})$: for one "
                r"user the divergence of the blanket has a corner at every ratio $\frac{2^{y+1}+1}{2^{y+1}-1}$, "
                r"that of $k$ components at most $k$ corners. ($\varepsilon_0=\log\frac53$.)",
            ),
        ),
        lambda components, outputs: components + 1,
        lambda components, outputs: outputs + 1,
        correction="For finitely many outputs as many components as outputs do. For others, let the components be a "
        "measure, or read the theorem as one on the random variable G.",
        source="decomposition, Section 4.2 and Theorem 5",
        assumptions=(),
        scope="one randomizer, up to six components; its finite parts, up to nine outputs, for the correction",
        check=_check_finite,
        correction_check=_check_finite_outputs,
        controls=(
            Control("one component fewer than outputs", lambda components, outputs: outputs, _check_finite_outputs),
        ),
        erratum=Erratum(
            "hypothesis",
            "reading",
            "Sums over the outputs say that they are finite; Theorem 12, with which the paper computes, needs no such "
            "thing.",
            quote="the sum over j from 1 to k in Definition 7",
        ),
        obligations=for_all("components", "outputs", clause=("said", "many outputs", "corners")),
    ),
    refuted(
        "ratio-pairs",
        "every output is in one of the sets of Theorem 7",
        (
            Clause(
                "said",
                "Theorem 7 is stated for any local randomizer, and its proof says that for any output there is "
                r"a unique pair of ratios with $y\in S_{r_0,r_1}$.",
            ),
            Clause(
                "none",
                "Where the infimum is 0 there is none: truthful response on two inputs has no output in any "
                "set, and the weights $a_{r_0,r_1}$ have total 0.",
            ),
            Clause("infinity", "Read as infinity the ratios merge what tells the pair apart."),
        ),
        _ratios,
        _proportions,
        correction="For LDP randomizers the theorem holds as printed; in general outputs are merged by the ratio "
        r"$a:b:c$, as the sentence before the theorem has it (claim decomposition.thm-7).",
        source="decomposition, Theorem 7",
        assumptions=(),
        scope="three channels, two of them not LDP, n <= 2",
        check=_check_ratios,
        controls=(Control("a number over 0 read as infinity", _infinite),),
        erratum=Erratum(
            "hypothesis",
            "granted",
            "As in Theorem 13, local privacy is used and not supposed; with it nothing changes.",
            quote="there exists a unique pair (p, q) such that y* in S_{p,q}",
            same_as="decomposition.thm-13",
        ),
        obligations=for_all("a", "b", "c", clause=("said", "none", "infinity")),
    ),
    finding(
        "same-record-twice",
        "joint composition where all reports are on one record",
        (
            Clause(
                "upper bound",
                "The product of the optimal decompositions gives an upper bound for reports on the same record, "
                "as Section 1.1 says.",
            ),
            Clause(
                "not best",
                "It need not be the best one there: the infimum of a product is the product of the infima over "
                "all pairs of records, and over equal ones it is larger.",
            ),
            Clause(
                "instance",
                r"Binary response twice, ratio 2 each, $e^\varepsilon=3$, $n=2$: $\frac2{27}$ against "
                r"$\frac4{81}$.",
            ),
        ),
        _relation("<="),
        _relation("=="),
        source="decomposition, Section 1.1, optimal bounds for joint composition; Theorem 9",
        assumptions=("the other users report on one record each, too",),
        scope="two mechanisms, two reports, n <= 2, two orders",
        check=_check_twice,
        controls=(Control("at least one percent larger than the optimal one", _relation("<=", Fraction(99, 100))),),
        obligations=(
            *for_all("best", "bound", clause=("upper bound", "not best")),
            *by_cases("instance", clause="instance"),
        ),
    ),
)
