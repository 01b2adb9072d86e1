"""Information measures over LDP channels: known values, closed forms, and what is refused."""

from fractions import Fraction

import flint
import pytest

from proofs_checks import _divergences
from proofs_checks.ldp_tradeoff._named import best_uniform_size
from symshuffle import Exp, InputError, Unsupported
from symshuffle.base.numbers import enclose, to_arb
from symshuffle.channels import MaximalPolytope, hockey_stick, symmetric_group
from symshuffle.design.information import measures as me
from symshuffle.design.information.maximum import maximise, renyi_divergence

P0 = [Fraction(v, 10) for v in (5, 3, 1, 1)]
P1 = [Fraction(v, 10) for v in (1, 2, 3, 4)]
SLOPE = [Fraction(v, 10) for v in (-3, -1, 1, 3)]


@pytest.mark.parametrize(
    ("measure", "lam", "value"),
    [
        (me.chi_square_measure(P0, P1), 3, Fraction(25, 96)),
        (me.total_variation_measure(P0, P1), 3, Fraction(1, 4)),
        (me.hockey_stick_measure(P0, P1, Fraction(5, 4)), 3, Fraction(3, 20)),
        (me.hockey_stick_measure(P0, P1, Fraction(2)), 3, Fraction(0)),
        (me.fisher_information(P0, SLOPE), 2, Fraction(2, 27)),
        (me.fisher_information(P0, SLOPE), 3, Fraction(16, 91)),
        (me.fisher_information(P0, SLOPE), 20, Fraction(361, 486)),
    ],
)
def test_rational_measures(measure, lam, value):
    design = maximise(measure, lam)
    assert design.value.exact == value
    assert measure.of(design.channel()) == value
    vertices = MaximalPolytope(4, Fraction(lam)).vertices()
    assert max(measure.of(MaximalPolytope(4, Fraction(lam)).channel(v)) for v in vertices) == value


@pytest.mark.parametrize(
    ("measure", "eps0", "value"),
    [
        (me.kullback_leibler(P0, P1), "1/2", 0.0301012772288938),
        (me.kullback_leibler(P0, P1), "1", 0.108179162878955),
        (me.kullback_leibler(P0, P1), "2", 0.300848454940177),
        (me.kullback_leibler(P0, P1), "5", 0.642987384171878),
        (me.mutual_information([Fraction(v, 10) for v in (4, 3, 2, 1)]), "1", 0.121973473180898),
        (me.mutual_information([Fraction(1, 4)] * 4), "1", 0.117992866909883),
    ],
)
def test_logarithmic_measures(measure, eps0, value):
    design = maximise(measure, Exp(Fraction(eps0)))
    assert design.value.arithmetic == "ball"
    assert design.value.width < Fraction(1, 10**20)
    assert float(design.value.midpoint) == pytest.approx(value, abs=1e-14)
    kept = enclose(measure.of(design.channel()))  # of its rational channel, next to the level
    assert abs(kept.midpoint / design.value.midpoint - 1) < Fraction(1, 1000)


def test_renyi_and_user_divergences():
    squares = me.f_divergence(P0, P1, lambda t: (t - 1) ** 2)
    assert abs(maximise(squares, 3).value.midpoint - Fraction(25, 96)) < Fraction(1, 10**20)
    # The Renyi power of order 2 is one plus the chi-square divergence.
    power = maximise(me.renyi_power(P0, P1, Fraction(2)), 3)
    assert abs(power.value.midpoint - 1 - Fraction(25, 96)) < Fraction(1, 10**20)
    divergence = renyi_divergence(power, Fraction(2))
    assert float(divergence.midpoint) == pytest.approx(0.23144235412890485, abs=1e-12)


def test_measures_of_channels_agree_with_the_divergences():
    channel = MaximalPolytope(4, Fraction(3)).channel(MaximalPolytope(4, Fraction(3)).vertices()[7])
    laws = [[sum(p * v for p, v in zip(law, column, strict=True)) for column in channel.columns()] for law in (P0, P1)]
    assert me.hockey_stick_measure(P0, P1, Fraction(6, 5)).of(channel) == hockey_stick(*laws, Fraction(6, 5))


def test_exchangeable_inputs_reduce_the_program():
    measure = me.mutual_information([Fraction(1, 5)] * 5)
    reduced = maximise(measure, Exp(Fraction(1)), group=measure.symmetry())
    assert abs(reduced.value.midpoint - maximise(measure, Exp(Fraction(1))).value.midpoint) < Fraction(1, 10**20)
    assert reduced.num_outputs() == reduced.channel().num_outputs
    wide = me.mutual_information([Fraction(1, 40)] * 40)
    value, size = best_uniform_size(40, Fraction(1))
    design = maximise(wide, Exp(Fraction(1)), group=wide.symmetry())
    assert abs(design.value.midpoint - value.midpoint) < Fraction(1, 10**20)
    assert [subset.bit_count() for subset in design.weights] == [size]
    with pytest.raises(Unsupported, match="outputs"):
        design.channel()
    pair = me.chi_square_measure(
        [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)], [Fraction(1, 5), Fraction(2, 5), Fraction(2, 5)]
    )
    assert pair.symmetry().blocks == ((0,), (1, 2))
    assert maximise(pair, 3, group=pair.symmetry()).value.exact == maximise(pair, 3).value.exact
    with pytest.raises(InputError, match="equal data"):
        maximise(pair, 3, group=symmetric_group(3))


def test_refusals():
    offset = me.Measure("offset", 3, lambda v: sum(v) + 1, lambda v: sum(v) + 1)
    with pytest.raises(InputError, match="offset"):
        maximise(offset, 2)
    normalised = me.Measure("normalised", 3, None, lambda v: (v[0] / sum(v)).log() * flint.arb(-1))
    with pytest.raises(InputError, match="normalised"):
        maximise(normalised, 2)
    with pytest.raises(Unsupported, match="m = 15"):
        maximise(me.mutual_information([Fraction(1, 15)] * 15), 2)
    with pytest.raises(InputError, match="P1"):
        me.kullback_leibler(P0, [Fraction(1, 2)] * 4)
    with pytest.raises(InputError, match="derivative"):
        me.fisher_information(P0, P1)
    with pytest.raises(InputError, match="alpha"):
        me.renyi_power(P0, P1, Fraction(1, 2))
    with pytest.raises(InputError, match="eps0"):
        maximise(me.total_variation_measure(P0, P1), Exp(Fraction(0)))


@pytest.mark.parametrize("alpha", [Fraction(3, 2), Fraction(3)])
def test_the_renyi_divergence_is_that_of_the_channel(alpha):
    design = maximise(me.renyi_power(P0, P1, alpha), 3)
    found = renyi_divergence(design, alpha)
    laws = [[sum(p * w for p, w in zip(law, column, strict=True)) for column in design.channel().columns()]
            for law in (P0, P1)]  # fmt: skip
    exact = _divergences.renyi_divergence(*laws, alpha)
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper
    assert found.width < Fraction(1, 10**10)


def test_a_column_on_which_two_inputs_agree_tells_nothing_of_them():
    """Its ball has 0 as its middle, and a power of such a ball would be no number."""
    same = to_arb(Exp(Fraction(1)))
    ahead, behind = ([Fraction(v, 4) for v in law] for law in ((2, 1, 1), (1, 2, 1)))
    assert me.chi_square_measure(ahead, behind).ball([same, same, to_arb(1)]).overlaps(to_arb(0))
