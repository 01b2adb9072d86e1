r"""The Blackwell order of channels, decided with a certificate either way, and Le Cam's deficiency.

``first`` dominates ``second`` if a post-processing turns ``first`` into ``second``. If it does, the certificate is
that kernel; if not, it is a decision problem on which ``second`` does strictly better. Both come from one rational
linear program.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, final

from symshuffle.base.choices import SafeEnd
from symshuffle.base.errors import CertificateError, InputError
from symshuffle.base.lp import Certificate, LinearProgram
from symshuffle.base.numbers import exact_sum
from symshuffle.base.results import Bracket, ValueMethods, check_claim, well_formed, within
from symshuffle.channels.channel import Channel, check_channel, exact_columns
from symshuffle.channels.geometry.linear import Matrix, dot, transpose
from symshuffle.channels.geometry.linprog import Solution, solve


@final
@dataclass(frozen=True, slots=True)
class BlackwellOrder:
    r"""Whether a first channel dominates a second one, with what proves it.

    - ``kernel``: where it does, what turns the first channel into the second.
    - ``gains``: where it does not, a decision problem with inputs as parameters that the second channel solves strictly
      better. The gain of answering ``j`` at input ``x`` is ``gains[x][j]``, between -1 and 1. Answering with its
      output, the second channel earns :math:`\sum_{x,j} Z_{xj}\, V_x(j)`; the first no more than
      :math:`\sum_i \max_j \sum_x Z_{xj}\, W_x(i)`.
    """

    kernel: Channel | None = None
    gains: Matrix = ()

    @property
    def dominates(self) -> bool:
        """Whether the first channel dominates the second."""
        return self.kernel is not None

    def margin(self, first: Channel, second: Channel) -> Fraction:
        """By how much the second channel is better at the gains; positive in a valid certificate."""
        answers = transpose(self.gains)
        earned = sum(map(dot, answers, exact_columns(second)), start=Fraction(0))
        best = (max(dot(gains, column) for gains in answers) for column in exact_columns(first))
        return earned - sum(best, start=Fraction(0))

    @well_formed()
    def verify(self, first: Channel, second: Channel) -> None:
        """Check that the kernel turns ``first`` into ``second``, or that ``second`` earns more by gains in [-1, 1]."""
        for name, channel in (("first", first), ("second", second)):
            if not channel.exact:
                raise CertificateError(name, "entries that are balls or doubles")
        if self.kernel is not None:
            with within("kernel"):
                found = first.push_forward(self.kernel)
            if found != second:
                raise CertificateError("kernel", "the first channel followed by it is not the second")
            return
        if first.num_inputs != second.num_inputs:
            raise CertificateError("second", f"{second.num_inputs} inputs, where the first has {first.num_inputs}")
        if [len(row) for row in self.gains] != [second.num_outputs] * second.num_inputs:
            raise CertificateError("gains", f"no {second.num_inputs} rows of {second.num_outputs}")
        if any(abs(gain) > 1 for row in self.gains for gain in row):
            raise CertificateError("gains", "an entry outside [-1, 1]")
        if (margin := self.margin(first, second)) <= 0:
            raise CertificateError("gains", f"the second channel is better by {margin}")

    def to_json(self) -> dict[str, Any]:
        """A form that ``json.dumps`` accepts; rationals are strings."""
        name, rows = ("gains", self.gains) if self.kernel is None else ("kernel", self.kernel.rows)
        return {"dominates": self.dominates, name: [[str(v) for v in row] for row in rows]}


def blackwell(first: Channel, second: Channel) -> BlackwellOrder:
    """Certificate that decides whether ``first`` dominates ``second`` (Blackwell).

    Channel ``first`` dominates ``second`` if ``second`` is ``first`` followed by a post-processing of its output.

    Parameters
    ----------
    first, second : Channel
        Channels over the rationals with the same number of inputs.

    Returns
    -------
    BlackwellOrder
        ``dominates`` tells; ``verify(first, second)`` checks the kernel, or the decision problem, that proves it.

    Raises
    ------
    InputError
        If the channels are not rational, or differ in their number of inputs.

    Notes
    -----
    ldp_tradeoff, Definition 3.1.

    Examples
    --------
    >>> fine = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> coarse = Channel.from_rows([["5/8", "3/8"], ["3/8", "5/8"]])
    >>> blackwell(fine, coarse).dominates, blackwell(coarse, fine).dominates
    (True, False)
    """
    check_channel(second, "second")
    check_channel(first, "first")
    solution = solve(_program(first, second, worst_input=False))
    outputs = second.num_outputs
    if solution.value.exact == 0:
        return BlackwellOrder(_kernel(solution, first.num_outputs, outputs))
    errors = solution.certificate.dual[first.num_outputs :]
    gains = [above - below for above, below in zip(errors[::2], errors[1::2], strict=True)]
    return BlackwellOrder(gains=tuple(tuple(gains[x * outputs : (x + 1) * outputs]) for x in range(second.num_inputs)))


@final
@dataclass(frozen=True, slots=True, repr=False)
class Deficiency(ValueMethods):
    """Le Cam's deficiency with the kernel that attains it.

    ``float`` returns the upper end, rounded up.
    """

    safe: ClassVar[SafeEnd] = "upper"
    first: Channel
    second: Channel
    kernel: Channel
    certificate: Certificate
    value: Bracket

    @property
    def about(self) -> str:
        """What is imitated by what."""
        sizes = f"a channel with {self.second.num_outputs} outputs by one with {self.first.num_outputs}"
        return f"deficiency, the smallest largest total variation over inputs, of imitating {sizes}"

    @well_formed()
    def verify(self) -> None:
        """Check the bound of the dual vector, and what the kernel attains."""
        with within("certificate"):
            proved = self.certificate.prove(_program(self.first, self.second, worst_input=True))
        with within("kernel"):
            distances = _distances(self.first.push_forward(self.kernel), self.second)
        check_claim(self.value, Bracket(proved.lower, max(distances), "exact", "lp", "kernel"), "value")


def _distances(first: Channel, second: Channel) -> list[Fraction]:
    """Half the absolute differences of two channels, by input."""
    pairs = zip(zip(*exact_columns(first), strict=True), zip(*exact_columns(second), strict=True), strict=True)
    return [exact_sum(abs(a - b) for a, b in zip(left, right, strict=True)) / 2 for left, right in pairs]


def deficiency(first: Channel, second: Channel) -> Deficiency:
    r"""Le Cam's deficiency of one channel with respect to another, with its kernel.

    .. math:: \delta(W, V) = \min_K \max_x \tfrac12 \lVert V_x - (WK)_x \rVert_1

    It is zero exactly if ``first`` dominates ``second``.

    Parameters
    ----------
    first, second : Channel
        Channels W and V over the rationals with the same number of inputs.

    Returns
    -------
    Deficiency
        The deficiency as a bracket, and the best post-processing of ``first``.

    Raises
    ------
    InputError
        If the channels are not rational, or differ in their number of inputs.

    Notes
    -----
    ldp_tradeoff, Definition 3.1, for approximations.

    Examples
    --------
    >>> nothing, pair = Channel.from_rows([[1], [1]]), Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> deficiency(nothing, pair).value.exact
    Fraction(1, 4)
    """
    check_channel(second, "second")
    check_channel(first, "first")
    solution = solve(_program(first, second, worst_input=True))
    kernel = _kernel(solution, first.num_outputs, second.num_outputs)
    return Deficiency(first, second, kernel, solution.certificate, solution.value)


def _program(first: Channel, second: Channel, *, worst_input: bool) -> LinearProgram:
    """Minimise the distance of ``first`` followed by a kernel to ``second``.

    Variables: the kernel ``K[i][j]``, errors ``e[x][j] >= |V_x(j) - (WK)_x(j)|``, and for the worst input its bound.
    Rows: one per row of the kernel, two per error, then one per input for half of its errors.
    """
    if first.num_inputs != second.num_inputs:
        raise InputError("second", f"{second.num_inputs} inputs", f"{first.num_inputs}, as the first channel")
    inputs, middle, outputs = range(first.num_inputs), range(first.num_outputs), range(second.num_outputs)
    w, v = exact_columns(first), exact_columns(second)
    zero, one = Fraction(0), Fraction(1)
    pairs = list(itertools.product(inputs, outputs))
    at_least = {pair: len(middle) + 2 * k for k, pair in enumerate(pairs)}
    half = len(middle) + 2 * len(pairs)
    columns: list[tuple[tuple[int, Fraction], ...]] = []
    for i, j in itertools.product(middle, outputs):
        imitated = [(at_least[x, j], w[i][x]) for x in inputs if w[i][x]]
        columns.append(((i, one), *itertools.chain(*(((row, p), (row + 1, -p)) for row, p in imitated))))
    for (x, _), row in at_least.items():
        counted = ((half + x, Fraction(-1, 2)),) if worst_input else ()
        columns.append(((row, one), (row + 1, one), *counted))
    costs = [zero] * (len(middle) * len(outputs)) + [zero if worst_input else one] * len(pairs)
    senses = ["=="] * len(middle) + [">="] * (2 * len(pairs))
    rhs = [one] * len(middle) + [side for x, j in pairs for side in (v[j][x], -v[j][x])]
    if worst_input:
        columns.append(tuple((half + x, one) for x in inputs))
        costs.append(one)
        senses += [">="] * len(inputs)
        rhs += [zero] * len(inputs)
    return LinearProgram(tuple(costs), tuple(columns), tuple(senses), tuple(rhs))


def _kernel(solution: Solution, middle: int, outputs: int) -> Channel:
    """The kernel of a solution: its first variables, row by row."""
    point = solution.primal()
    return Channel(tuple(tuple(point[i * outputs : (i + 1) * outputs]) for i in range(middle)))
