r"""Check an upper bound on shuffled privacy: ``python -I -S bound.py bound.json [statement.json]``.

Statement: n users send a message each, y with probability W_x(y), the messages are shuffled, at least m are
sent, datasets differ in g users. M0, M1 being the laws of all messages, sum (M0 - exp(eps) M1)_+ <= delta.
Lines hold c, step, smoothing, last node: whatever these are, an upper bound is found; bad ones make it large.
T1 Blanket (decomposition, Theorems 4 to 7, 12, 13). Let a, b be the laws of the differing user's message and
0 <= c_y <= W_x(y) for all inputs x (a null symbol is one more), X = exp(eps), G = (a_y - X b_y)/c_y with
probability c_y, else 0. The divergence is at most H(n) = s + E[(G_1 + ... + G_n)_+]/n, s = sum (a_y - X
b_y)_+ over c_y = 0. Here c may be any common part. H rises with G and s, and with falling X.
T2 H(n) does not grow with n (symshuffle.more-users): H(m) covers all numbers of messages from m on.
T3 If r^g <= X, g users: (1 + r + ... + r^(g-1)) H at ratio r, by a chain (symshuffle.group-privacy).
T4 Any randomizer (symshuffle.generic-bound): if all rows of all users together are within a factor exp(eps0)
of each other, H of binary randomized response is a bound.
The law. Numbers are integers over 2^256. X and c_y are rounded down, values of G up: by T1 the rounded law,
which is exact, bounds H. From there on G is c times it, rounded up. At most 50 users with few count vectors:
E[(sum of G)_+] is the sum over these, products rounded up.

Contour. Let Z be normal, mean 0 and variance v, S = G_1 + ... + G_n, w(x) = E[(S + Z + x)_+]; E[S_+] <= w(0)
by Jensen. On the line 1 + iu, with M = E[exp G], phi(u) = E[exp((1 + iu) G)]/M, w(0) is M^n exp(v/2)/(2 pi)
times the integral of F, F(u) = phi(u)^n exp(-v u^2/2 + i v u)/(1 + iu)^2. By Poisson's formula the trapezoid
rule of step h gives sum exp(-jP) w(jP) over all integers j, P = 2 pi/h. All terms are positive, so that the
rule, M^n exp(v/2) (h/pi) (1/2 + Re sum_(k > 0) F(kh)), is an upper bound. Of that sum,
(1) nodes beyond the last, U, add less than the integral of exp(-v u^2/2)/(h u^2), < exp(-v U^2/2)/(h v U^3);
(2) nodes at most r from u0 are bounded where that is small: f = abs(phi)^2 = E[cos(u (G - G'))] has a second
derivative of at most 2 V in size, V the variance of G under the weights of phi, so that f is at most min(1,
f(u0) + abs(f'(u0)) r + V r^2), and abs(F) <= f^(n/2) exp(-v u^2/2);
(3) at others F is computed, with G - centre and a phase; (x, y, e) is within e/2^256 of (x + iy)/2^256.
Functions. Terms T_k = floor(floor(T_(k-1) y)/k) of exp y, y = abs(x)/2^m < 2^-16, over 2^(272 + m), are too
small by less than 3 each, the rest is less than 4, there are at most 30: the sum errs by less than 100. For
exp, m squarings follow, rounded down and up. For exp(ix) the terms alternate; squaring turns an error e <
2^-99 into less than (2 + 2^-98) e + 2/2^(272 + m): in the end 250/2^16 over 2^256. pi is cut after 36 digits.
"""

import hashlib
import json
import sys
from functools import lru_cache
from itertools import zip_longest
from math import comb, isqrt
from typing import Any

FORMAT = "symshuffle bound 1: an upper end; neither lower ends nor what datasets attain are part of this file"
NAMED = {"any-ldp": "", "rr": "", "krr": "k", "subset-selection": "ks", "rappor": "D", "oue": "D"}
BITS, FINE, ONE = 256, 4096, 1 << 256
LINE = {"c": ONE << 64, "step": ONE << 8, "smoothing": ONE << 8, "last": 1 << 40}
PI, PI_SCALE = 314159265358979323846264338327950288, 10**35
FEW_USERS, FEW_VECTORS, SHORT, SILENT = 50, 100_000, 4, ONE >> 64
SENTENCE = """delta <= {delta} at exp(eps) = {exp_eps}; {users} users, {min_users} + send; {group} differ
by {adjacency}; mechanism {mechanism}, exp(eps0) = {exp_eps0}, null {null}; ordered pairs {pairs}"""
Interval = tuple[int, int]


class CertificateError(ValueError):
    """A part of the file, its place, does not prove what it should."""


def up(x: int, bits: int = BITS) -> int:
    """Return x / 2^bits rounded up."""
    return -(-x >> bits)


def power(x: int, n: int, bits: int = BITS) -> int:
    """Return x^n over 2^bits, rounded up."""
    found = 1 << bits
    while n:
        found, x, n = up(found * x, bits) if n & 1 else found, up(x * x, bits), n >> 1
    return found


def series(x: int) -> tuple[list[int], int, int]:
    """Terms of exp(abs(x)/2^m), rounded down over a power of 2, its exponent, and m."""
    halvings = max(0, abs(x).bit_length() - BITS) + 16
    bits = BITS + halvings + 16
    terms = [1 << bits]
    while terms[-1]:
        terms.append((terms[-1] * (abs(x) << 16) >> bits) // len(terms))
    return terms, bits, halvings


def exp(x: int) -> Interval:
    """Interval around exp(x)."""
    terms, bits, halvings = series(x := max(x, -ONE << 16))
    low, high = sum(terms), sum(terms) + 100
    for _ in range(halvings):
        low, high = low * low >> bits, up(high * high, bits)
    if x < 0:
        low, high = (1 << 2 * bits) // high, -((-1 << 2 * bits) // low)
    return low >> bits - BITS, up(high, bits - BITS)


def turn(x: int) -> tuple[int, int, int]:
    """Complex number exp(ix), where x may be off by 1."""
    terms, bits, halvings = series(x)
    a, b = sum(terms[::4]) - sum(terms[2::4]), sum(terms[1::4]) - sum(terms[3::4])
    for _ in range(halvings):
        a, b = (a + b) * (a - b) >> bits, a * b >> bits - 1
    return a >> bits - BITS, (b if x >= 0 else -b) >> bits - BITS, 4


def product(z: tuple[int, int, int], w: tuple[int, int, int]) -> tuple[int, int, int]:
    """Product of two complex numbers."""
    (a, b, e), (c, d, f) = z, w
    error = up((abs(a) + abs(b)) * f + (abs(c) + abs(d)) * e + e * f) + 2
    return a * c - b * d >> BITS, a * d + b * c >> BITS, error


def integer(value: Any, place: str, least: int, most: int) -> int:
    """Return an integer of the file, which has to lie in a range."""
    if type(value) is not int or not least <= value <= most:
        raise CertificateError(place, f"no integer from {least} to {most}")
    return value


def ratio(text: str, place: str) -> Interval:
    """Interval around p, p/q or exp(p/q), a number from 1 to exp(65536)."""
    p, _, q = text.removeprefix("exp(").removesuffix(")").partition("/")
    low, high = (int(p) << BITS) // int(q or 1), -((-int(p) << BITS) // int(q or 1))
    if not (0 if "exp" in text else ONE) <= low <= ONE << 16:
        raise CertificateError(place, "neither p/q from 1 nor exp(p/q) from exp(0), up to 65536")
    return (exp(low)[0], exp(high)[1]) if "exp" in text else (low, high)


def named(mechanism: dict[str, Any], place: str) -> list[list[list[int]]]:
    """In proportion, probabilities of kinds of outputs: of two inputs, and the least; t^2 = exp(eps0)."""
    name = mechanism["name"]
    if name not in NAMED or set(mechanism) != {"name", *NAMED[name]}:
        raise CertificateError(place, f"neither rows nor one of {NAMED}, with parameters")
    if "D" in mechanism:  # a bit for each input; at other inputs 0 is t^d times as likely as 1
        d, size = 1 + (name == "oue"), integer(mechanism["D"] or 65, place, 2, 10**18)
        free = size - 2 if size < 65 else 0
        rest = [comb(free, i // d) * (i % d == 0) for i in range(d * free + 1)]
        ones = [int(size < 65)]  # without a larger common part of the string of ones, for every size
        kinds = [(ones, 2, 2, 2), ([rest[0] - ones[0], *rest[1:]], 2, 2, 0), ([0] * 2 * d + rest, 0, 0, 0)]
        mixed = [0] * d + rest
    else:
        k = integer(mechanism.get("k", 2), place, 2, 10**18)
        s = integer(mechanism.get("s", 1), place, 1, k - 1)
        mixed = [s * (k - s)]
        kinds = [([s * (s - 1)], 2, 2, 0), ([(k - s) * (k - s - 1)], 0, 0, 0)]
    kinds += [(mixed, 2, 0, 0), (mixed, 0, 2, 0)]
    return [[[0] * powers[x] + weight for weight, *powers in kinds] for x in range(3)]


def entry(p: list[int], t: Interval, place: str) -> Interval:
    """Interval around an integer polynomial in t, coefficients rising: zero, or certainly positive."""
    low = high = 0
    for c in reversed(p):
        low, high = (low * t[low < 0] >> BITS) + (c << BITS), up(high * t[high >= 0]) + (c << BITS)
    if any(p) and low <= 0:
        raise CertificateError(place, "a probability is not certainly positive")
    return low, high


def laws(said: dict[str, Any], ratio_down: int) -> set[tuple[int, tuple[Interval, ...]]]:
    """Singular mass, and atoms (value, probability) of G rounded up, of each ordered pair of inputs."""
    low, high = ratio(said["exp_eps0"], "exp_eps0")
    t = isqrt(low << BITS), isqrt(high << BITS) + 1
    mechanism, null, place = said["mechanism"], said["null"], "mechanism"
    if said["adjacency"] != ("replace-one" if null is None else "zero-out"):
        raise CertificateError("adjacency", "neither replace-one, nor zero-out with a null symbol")
    if mechanism["name"] != "rows":
        rows = named(mechanism, place)
        divisor, inputs = [sum(c) for c in zip_longest(*rows[0], fillvalue=0)], [0, 1]
        if null not in (None, "blanket") or (null and mechanism["name"] == "any-ldp"):
            raise CertificateError("null", "not that of this mechanism")
    else:
        rows, divisor = mechanism["rows"] + ([null] if type(null) is list else []), mechanism["denominator"]
        inputs = list(range(len(rows)))
        if any([sum(c) for c in zip_longest(*row, fillvalue=0)] != divisor for row in rows):
            raise CertificateError(place, "a row does not sum to 1")
    a, b = entry(divisor, t, place)
    cells = [[entry(p, t, place) for p in row] for row in rows]
    matrix = [[((low << BITS) // b, -((-high << BITS) // a)) for low, high in row] for row in cells]
    common = [(min(p[0] for p in column), min(p[1] for p in column)) for column in zip(*matrix, strict=True)]
    if null == "blanket":
        a, b = sum(c[0] for c in common), sum(c[1] for c in common)
        matrix.append([((low << BITS) // b, -((-high << BITS) // a)) for low, high in common])
        inputs.append(len(matrix) - 1)
    pairs = [(x, z) for x in inputs for z in inputs if x != z and (null is None or inputs[-1] in (x, z))]
    asked = pairs if said["pairs"] == "all" else [tuple(pair) for pair in said["pairs"]]
    if not asked or not set(asked) <= set(pairs):
        raise CertificateError("pairs", "no pairs of inputs of this mechanism and adjacency")
    found = set()
    for x, z in asked:
        atoms, singular = {0: ONE - sum(c for c, _ in common)}, 0
        for (_, a), (b, _), (c, _) in zip(matrix[x], matrix[z], common, strict=True):
            gain = (a << BITS) - ratio_down * b
            singular += 0 if c else max(0, up(gain))
            value = -(-gain // c) if c else 0
            atoms[value] = atoms.get(value, 0) + c
        found.add((singular, tuple(sorted(atoms.items()))))
    return found


def few(law: tuple[Interval, ...], n: int, p: int = 1 << FINE, s: int = 0) -> int:
    """Sum of p (s + G_1 + ... + G_n)_+ over count vectors, rounded up, for p over 2^4096."""
    (g, w), *rest = law
    if not rest:
        return up(up(p * w**n, BITS * n) * max(0, s + n * g))
    return sum(few(tuple(rest), n - i, up(p * comb(n, i) * w**i, BITS * i), s + i * g) for i in range(n + 1))


@lru_cache(64)
def contour(atoms: tuple[Interval, ...], n: int, c: int, step: int, v: int, last: int) -> int:
    """E[(G_1 + ... + G_n)_+] over 2^4096, rounded up, by the trapezoid rule."""
    values = [max(up(c * g), -ONE << 16) for g, _ in atoms]
    if max(values) > ONE << 16:
        raise CertificateError("lines.c", "times a value of G, beyond 65536")
    grown = [(exp(g)[0] * w, exp(g)[1] * w) for g, (_, w) in zip(values, atoms, strict=True)]
    low, high = sum(w[0] for w in grown), sum(w[1] for w in grown)
    if n * (high - ONE * ONE) > ONE * ONE << 10:
        raise CertificateError("lines", "M^n may be beyond exp(1024)")
    tilted = [((w[0] << BITS) // high, -((-w[1] << BITS) // low)) for w in grown]
    centre = sum(g * p for g, (p, _) in zip(values, tilted, strict=True)) >> BITS
    around = [(g - centre, p) for g, (p, _) in zip(values, tilted, strict=True)]
    variance = up(sum((g - centre) ** 2 * p for g, (_, p) in zip(values, tilted, strict=True)), 2 * BITS)
    error = 8 + sum(b - a for a, b in tilted)  # of each turn, of the shifts, and of the weights
    slope_error = error * (2 + (max(abs(d) for d, _ in around) >> BITS))

    def transform(u: int) -> tuple[int, int, int, int]:  # phi without its phase, and its derivative
        parts = [(d, p, *turn(u * d >> BITS)) for d, p in around]
        x, y = sum(p * x for _, p, x, _, _ in parts), sum(p * y for _, p, _, y, _ in parts)
        dx, dy = sum(-p * d * y for d, p, _, y, _ in parts), sum(p * d * x for d, p, x, _, _ in parts)
        return x >> BITS, y >> BITS, dx >> 2 * BITS, dy >> 2 * BITS

    def node(u: int) -> int:  # Re F
        z, found, many = (*transform(u)[:2], error), turn(u * (v + n * centre) >> BITS), n
        while many:
            found, z, many = product(found, z) if many & 1 else found, product(z, z), many >> 1
        fading, pole = exp(-(v * u * u >> 2 * BITS + 1)), (ONE * ONE + u * u) ** 2
        found = product(found, (fading[0], 0, fading[1] - fading[0] + 2))
        found = product(found, ((ONE * ONE - u * u << 3 * BITS) // pole, (-2 * u << 4 * BITS) // pole, 2))
        return found[0] + found[2]

    def largest(first: int, stop: int) -> int:  # at least |F| at the nodes from first to stop - 1
        k, u = (first + stop) // 2, first * step
        reach, (x, y, dx, dy) = max(k - first, stop - 1 - k) * step, transform(k * step)
        slope_off = (abs(x) + abs(y) + 2 * error) * slope_error + (abs(dx) + abs(dy)) * error
        slope = abs(x * dx + y * dy) + slope_off
        f = (abs(x) + error) ** 2 + (abs(y) + error) ** 2 + up((2 * slope + variance * reach) * reach)
        return up(power(min(ONE, up(f)), n // 2) * exp(-(v * u * u >> 2 * BITS + 1))[1])

    end, stretches = last * step, [(1, last + 1)]
    found = ONE // 2 - (-exp(-(v * end * end >> 2 * BITS + 1))[1] << 5 * BITS) // (step * v * end**3)
    for first, stop in stretches:  # which grow
        if (most := largest(first, stop)) <= SILENT:
            found += most * (stop - first)
        elif stop - first <= SHORT:
            found += sum(node(k * step) for k in range(first, stop))
        else:
            stretches += [(first, (first + stop) // 2), ((first + stop) // 2, stop)]
    moment = power(up(high) << FINE - BITS, n, FINE)
    return -(-moment * exp(v // 2 + 1)[1] * step * found * PI_SCALE // (c * PI << 2 * BITS))


def value(said: dict[str, Any], lines: list[dict[str, int]]) -> int:
    """Bound on delta over 2^4096: of the worst pair of inputs, each on its best line."""
    n = integer(said["min_users"], "min_users", 1, integer(said["users"], "users", 1, 10**18))
    group = integer(said["group"], "group", 1, min(1000, said["users"]))
    whole, found = ratio(said["exp_eps"], "exp_eps")[0], []
    x, above = ONE, whole + 1  # T3: the largest ratio whose power is at most exp(eps)
    while above - x > 1:
        x, above = (m, above) if power(m := (x + above) // 2, group) <= whole else (x, m)
    factor = group << BITS if x == ONE else -((ONE - whole << BITS) // (x - ONE))
    for singular, law in laws(said, x):
        counted = n <= FEW_USERS and comb(n + len(law) - 1, n) <= FEW_VECTORS
        known = () if counted else [[line[name] for name in LINE] for line in lines]
        sums = [few(law, n)] if counted else [contour(law, n, *line) for line in known]
        found.append(min(-(-((singular * n << FINE - BITS) + a) * factor // (n << BITS)) for a in sums))
    return max(found)


def check(content: Any, expected: Any = None) -> str:
    """Return the statement that a file proves; CertificateError names the place where it proves none."""
    said, lines = content["statement"], content["lines"]
    if content["format"] != FORMAT or content["digest"] != digest(content):
        raise CertificateError("digest", "another format, or changed after the digest was taken")
    if expected is not None and said != expected:
        raise CertificateError("statement", "not the expected one")
    for name, line in ((name, line) for name in LINE for line in lines):
        integer(line[name], f"lines.{name}", 1, LINE[name])
    p, q = map(int, said["delta"].split("/"))
    if value(said, lines) * integer(q, "delta", 1, 10**1000) > p << FINE:
        raise CertificateError("delta", "smaller than the bound that was found")
    return SENTENCE.format(**said)


def digest(content: dict[str, Any]) -> str:
    """Digest of a file: of its JSON with sorted keys, without itself."""
    text = json.dumps({name: content[name] for name in content if name != "digest"}, sort_keys=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


if __name__ == "__main__":
    try:
        contents = [json.load(open(name)) for name in sys.argv[1:]]  # noqa: SIM115
        sys.stdout.write(f"PROVED: {check(*contents)}\n")
    except (ArithmeticError, LookupError, OSError, RecursionError, TypeError, ValueError) as refused:
        sys.exit(f"NOT PROVED: {refused}")
