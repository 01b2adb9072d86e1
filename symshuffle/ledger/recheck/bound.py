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
The file is JSON. It is parsed by the forms below before anything is computed; the sentence is made of what was
parsed. There are at most STEPS steps, of microseconds each, counted before they are taken wherever they can be.
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
import re
import sys
from functools import lru_cache
from itertools import zip_longest
from math import comb, gcd, isqrt
from typing import Any

FORMAT = "symshuffle bound 1: an upper end; neither lower ends nor what datasets attain are part of this file"
BITS, FINE, ONE, PI, PI_SCALE = 256, 4096, 1 << 256, 314159265358979323846264338327950288, 10**35
FEW_USERS, FEW_VECTORS, SHORT, SILENT, SIZES = 50, 100_000, 4, ONE >> 64, 65
STEPS, PER_ATOM, NODES, CELLS = 1 << 27, 64, 100_000, 200_000  # ten minutes of steps; steps per atom of SHORT nodes
SENTENCE = """delta <= {delta} at exp(eps) = {exp_eps}; {users} users, at least {min_users} send; {group} differ
by {adjacency}; mechanism {mechanism}; null symbol {null}; ordered pairs {pairs}"""

# Forms of JSON values: a regular expression for a string, a range for an integer, [form of an entry, range of lengths]
# for an array, a dict of forms for an object with exactly these keys, a tuple of forms for values of several types.
WHOLE, ABOVE = "(0|[1-9][0-9]{0,3999})", "([1-9][0-9]{0,3999})"  # int() accepts at most 4300 digits
LEVEL, SHARE = rf"(exp\()?{WHOLE}(?:/(?!1\b){ABOVE})?(?(1)\))", f"(){WHOLE}/{ABOVE}"
COUNT, LENGTHS = range(1, 10**18 + 1), range(1, CELLS + 1)
ROW = [[range(-(10**4000), 10**4000 + 1), LENGTHS], LENGTHS]  # each entry: coefficients of 1, t, t^2, ...
NAMED: dict[str, Any] = {"rows": {"denominator": ROW[0], "rows": [ROW, LENGTHS]}, "rr": {}, "any-ldp": {}}
NAMED |= {"krr": {"k": COUNT[1:]}, "subset-selection": {"k": COUNT[1:], "s": COUNT}}
NAMED |= {name: {"D": (None, COUNT[1:])} for name in ("rappor", "oue")}  # D = None: any size
STATEMENT: dict[str, Any] = {"mechanism": {}, "exp_eps": LEVEL, "exp_eps0": LEVEL, "delta": SHARE}
STATEMENT |= {"users": COUNT, "min_users": COUNT, "group": range(1, 1001), "adjacency": "replace-one|zero-out"}
STATEMENT |= {"null": (None, "blanket", ROW), "pairs": ("all", [[range(CELLS + 1), range(2, 3)], LENGTHS])}
LINE = {name: range(1, top + 1) for name, top in (("c", ONE << 64), ("step", ONE << 8), ("smoothing", ONE << 8))}
LINE["last"] = range(1, (1 << 40) + 1)
VERSIONS = dict.fromkeys(("symshuffle", "numpy", "python"), "not installed|[0-9][0-9A-Za-z.+-]{0,49}")
FILE = {"format": FORMAT, "lines": [LINE, range(7)], "versions": VERSIONS, "digest": "sha256:[0-9a-f]{64}"}
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


def read(value: Any, place: str, form: Any) -> Any:
    """Return a part of a file after checking that it has the form."""
    forms = {int if type(f) is range else type(f): f for f in (form if type(form) is tuple else (form,))}
    if type(value) not in forms:
        raise CertificateError(place, f"expected {' or '.join(kind.__name__ for kind in forms)}")
    form = forms[type(value)]
    if (type(form) is str and not re.fullmatch(form, value)) or (type(form) is range and value not in form):
        raise CertificateError(place, f"expected {form}"[:120])
    if type(form) is list and len(value) not in form[1]:
        raise CertificateError(place, f"expected from {form[1][0]} to {form[1][-1]} entries")
    if type(form) is dict and value.keys() != form.keys():
        raise CertificateError(place, f"expected the keys {', '.join(form)}, and no other")
    if type(form) is list:
        return [read(entry, f"{place}[{i}]", form[0]) for i, entry in enumerate(value)]
    return {key: read(value[key], f"{place}.{key}", form[key]) for key in form} if type(form) is dict else value


def number(text: str, place: str, form: str) -> tuple[bool, int, int]:
    """Return (exponential, p, q) for a text p/q or exp(p/q) that matches the form."""
    exponential, p, q = re.fullmatch(form, text).groups(default="")  # type: ignore[union-attr]
    found = exponential > "", int(p), int(q or 1)
    low, high = (0 if form == SHARE or exponential else found[2]), found[2] << 16 * (form == LEVEL)
    if gcd(*found[1:]) > 1 or not low <= found[1] <= high:
        raise CertificateError(place, "expected lowest terms: from 0/1 to 1/1, or from 1 or exp(0), p/q up to 65536")
    return found


def parse(content: Any) -> dict[str, Any]:
    """Return the fields of a statement, with p/q as integers, after checking that they are consistent."""
    given = content.get("mechanism") if type(content) is dict else None
    name = given.get("name") if type(given) is dict else None
    parts = {"name": "|".join(NAMED)} | (NAMED[name] if type(name) is str and name in NAMED else {})
    said: dict[str, Any] = read(content, "statement", STATEMENT | {"mechanism": parts})
    said |= {key: number(said[key], f"statement.{key}", STATEMENT[key]) for key in ("delta", "exp_eps", "exp_eps0")}
    null, given, pairs = said["null"], said["mechanism"], [] if said["pairs"] == "all" else said["pairs"]
    if max(said["min_users"], said["group"]) > said["users"]:
        raise CertificateError("statement.users", "expected at least min_users and group")
    rows = given.get("rows", [[], []]) + ([null] if type(null) is list else [])
    if any(len(row) != len(rows[0]) for row in rows) or len(rows) * len(rows[0]) > CELLS:
        raise CertificateError("statement.mechanism", f"expected rows of equal lengths, at most {CELLS} entries")
    tops = {p[-1] for row in rows for p in row if len(p) > 1} | {given.get("denominator", [1])[-1]}
    if 0 in tops or given.get("s", 1) >= given.get("k", 2) or (null and (given.get("D", 1) or SIZES) >= SIZES):
        raise CertificateError("statement.mechanism", "a last coefficient 0, s from k on, or a null symbol at D > 64")
    if said["adjacency"] != ("replace-one" if null is None else "zero-out") or (null and name == "any-ldp"):
        raise CertificateError("statement.null", "expected null for replace-one and any-ldp, a symbol for zero-out")
    last = len(rows) - (null != "blanket")  # index of the last input or, with a null symbol, of this symbol
    wrong = any(x == z or max(x, z) > last or (null and max(x, z) < last) for x, z in pairs)
    if last < 1 or wrong or (pairs and name != "rows") or len({*map(tuple, pairs)}) < len(pairs):
        raise CertificateError("statement.pairs", "expected all, or different pairs of two inputs of this adjacency")
    return said


def sentence(said: dict[str, Any]) -> str:
    """Return a parsed statement as a sentence."""
    null, pairs, (name, *parts) = said["null"], said["pairs"], said["mechanism"].items()
    words = {key: "{1}/{2}".format(*said[key]) for key in ("delta", "exp_eps", "exp_eps0")}
    for key in ("exp_eps", "exp_eps0"):
        words[key] = ("exp({})" if said[key][0] else "{}").format(words[key].removesuffix("/1"))
    given = [name[1], *(f"{key} {'any' if part is None else json.dumps(part)}" for key, part in parts)]
    given += [("in powers of t, t^2 = " if name[1] == "rows" else "exp(eps0) = ") + words["exp_eps0"]]
    words["mechanism"], words["pairs"] = ", ".join(given), json.dumps(pairs).strip('"')
    words["null"] = "none" if null is None else json.dumps(null).strip('"')
    return SENTENCE.format(**(said | words))


def ratio(exponential: bool, p: int, q: int) -> Interval:
    """Interval that contains exp(p/q) if ``exponential``, otherwise p/q, in units of 2^-BITS."""
    low, high = (p << BITS) // q, -((-p << BITS) // q)
    return (exp(low)[0], exp(high)[1]) if exponential else (low, high)


def named(mechanism: dict[str, Any]) -> list[list[list[int]]]:
    """In proportion, probabilities of kinds of outputs: of two inputs, and the least; t^2 = exp(eps0)."""
    if "D" in mechanism:  # a bit for each input; at other inputs 0 is t^d times as likely as 1
        d, size = 1 + (mechanism["name"] == "oue"), mechanism["D"] or SIZES
        free = size - 2 if size < SIZES else 0
        rest = [comb(free, i // d) * (i % d == 0) for i in range(d * free + 1)]
        ones = [int(size < SIZES)]  # without a larger common part of the string of ones, for every size
        kinds = [(ones, 2, 2, 2), ([rest[0] - ones[0], *rest[1:]], 2, 2, 0), ([0] * 2 * d + rest, 0, 0, 0)]
        mixed = [0] * d + rest
    else:
        k, s = mechanism.get("k", 2), mechanism.get("s", 1)
        mixed = [s * (k - s)]
        kinds = [([s * (s - 1)], 2, 2, 0), ([(k - s) * (k - s - 1)], 0, 0, 0)]
    kinds += [(mixed, 2, 0, 0), (mixed, 0, 2, 0)]
    return [[[0] * powers[x] + weight for weight, *powers in kinds] for x in range(3)]


def entry(p: list[int], t: Interval) -> Interval:
    """Interval around an integer polynomial in t, coefficients rising: zero, or certainly positive."""
    low = high = 0
    for c in reversed(p):
        low, high = (low * t[low < 0] >> BITS) + (c << BITS), up(high * t[high >= 0]) + (c << BITS)
    if any(p) and low <= 0:
        raise CertificateError("statement.mechanism", "a probability is not certainly positive")
    return low, high


def laws(said: dict[str, Any], ratio_down: int) -> set[tuple[int, tuple[Interval, ...]]]:
    """Singular mass, and atoms (value, probability) of G rounded up, of each ordered pair of inputs."""
    low, high = ratio(*said["exp_eps0"])
    t = isqrt(low << BITS), isqrt(high << BITS) + 1
    mechanism, null, asked = said["mechanism"], said["null"], said["pairs"]
    if mechanism["name"] != "rows":
        rows, inputs = named(mechanism), [0, 1]
        divisor = [sum(c) for c in zip_longest(*rows[0], fillvalue=0)]
    else:
        rows, divisor = mechanism["rows"] + ([null] if type(null) is list else []), mechanism["denominator"]
        inputs = list(range(len(rows)))
        sums = ([sum(c) for c in zip_longest([0] * len(divisor), *row, fillvalue=0)] for row in rows)
        if any(total[: len(divisor)] != divisor or any(total[len(divisor) :]) for total in sums):
            raise CertificateError("statement.mechanism", "a row does not sum to 1")
    count = len(asked) if asked != "all" else len(inputs) ** 2 if null is None else 2 * len(inputs)
    if count * len(rows[0]) + sum((len(p) * t[1].bit_length()) ** 2 >> 20 for row in rows for p in row) > STEPS:
        raise CertificateError("statement", "the computation of the laws takes too many steps")
    a, b = entry(divisor, t)
    cells = [[entry(p, t) for p in row] for row in rows]
    matrix = [[((low << BITS) // b, -((-high << BITS) // a)) for low, high in row] for row in cells]
    common = [(min(p[0] for p in column), min(p[1] for p in column)) for column in zip(*matrix, strict=True)]
    if null == "blanket":
        a, b = sum(c[0] for c in common), sum(c[1] for c in common)
        if a <= 0:
            raise CertificateError("statement.null", "the rows have no common part, so there is no blanket")
        matrix.append([((low << BITS) // b, -((-high << BITS) // a)) for low, high in common])
        inputs.append(len(matrix) - 1)
    if asked == "all":
        asked = [(x, z) for x in inputs for z in (inputs[-1:] if null and x != inputs[-1] else inputs) if x != z]
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


def few(law: tuple[Interval, ...], n: int) -> int:
    """Return an upper bound on E[(G_1 + ... + G_n)_+] in units of 2^-4096, by the sum over count vectors."""
    found, sums = 0, {(n, 0): 1 << FINE}  # weights by (users left, sum of G of the others)
    for g, w in law:
        grown = dict(sums)  # states in which no user has the value g
        for (users, s), p in sums.items():
            powers = [up(p * comb(users, i) * w**i, BITS * i) for i in range(1, users + 1)]
            found += up(powers[-1] * max(0, s + users * g))
            for i, mass in enumerate(powers[:-1], 1):
                key = users - i, s + i * g
                grown[key] = grown.get(key, 0) + mass
        sums = grown
    return found


@lru_cache(64)
def contour(atoms: tuple[Interval, ...], n: int, c: int, step: int, v: int, last: int) -> Interval:
    """Return an upper bound on E[(G_1 + ... + G_n)_+] in units of 2^-4096, by the trapezoid rule, and its steps."""
    values = [max(up(c * g), -ONE << 16) for g, _ in atoms]
    if max(values) > ONE << 16:
        raise CertificateError("lines.c", "c times a value of G is above 65536")
    grown = [(exp(g)[0] * w, exp(g)[1] * w) for g, (_, w) in zip(values, atoms, strict=True)]
    low, high = sum(w[0] for w in grown), sum(w[1] for w in grown)
    if n * (high - ONE * ONE) > ONE * ONE << 10:
        raise CertificateError("lines", "M^n may be beyond exp(1024)")
    tilted = [((w[0] << BITS) // high, -((-w[1] << BITS) // low)) for w in grown]
    centre = sum(g * p for g, (p, _) in zip(values, tilted, strict=True)) >> BITS
    around = [(g - centre, p) for g, (p, _) in zip(values, tilted, strict=True)]
    variance = up(sum((g - centre) ** 2 * p for g, (_, p) in zip(values, tilted, strict=True)), 2 * BITS)
    near = isqrt((80 << 3 * BITS) // (2 * n * variance + v)) // step  # nodes at which no bound on |F| is small
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
        if max(len(stretches), min(last, near) // SHORT) * len(atoms) * PER_ATOM > STEPS:
            raise CertificateError("lines", "too many nodes at which |F| is not shown to be small")
        if (most := largest(first, stop)) <= SILENT:
            found += most * (stop - first)
        elif stop - first <= SHORT:
            found += sum(node(k * step) for k in range(first, stop))
        else:
            stretches += [(first, (first + stop) // 2), ((first + stop) // 2, stop)]
    moment = power(up(high) << FINE - BITS, n, FINE)
    found = -(-moment * exp(v // 2 + 1)[1] * step * found * PI_SCALE // (c * PI << 2 * BITS))
    return found, len(stretches) * len(atoms) * PER_ATOM


def value(said: dict[str, Any], lines: list[dict[str, int]]) -> int:
    """Bound on delta over 2^4096: of the worst pair of inputs, each on its best line."""
    n, group, whole = said["min_users"], said["group"], ratio(*said["exp_eps"])[0]
    if any(line["last"] > NODES + 10 * n for line in lines):
        raise CertificateError("lines", f"expected a last node up to {NODES} + 10 min_users")
    x, above = (whole, whole + 1) if group == 1 else (ONE, ONE << (whole.bit_length() - BITS) // group + 1)
    while above - x > 1 + (x >> BITS):  # T3: the largest x found with x^group <= exp(eps)
        x, above = (m, above) if power(m := (x + above) // 2, group) <= whole else (x, m)
    factor = group << BITS if x == ONE else -((ONE - whole << BITS) // (x - ONE))
    steps = worst = 0
    for singular, law in laws(said, x):
        known = 0 if law[-1][0] <= 0 else comb(n + len(law) - 1, n) if n <= FEW_USERS else FEW_VECTORS + 1
        found: list[int] = []
        for line in lines if known > FEW_VECTORS else [{}]:
            if steps > STEPS:
                raise CertificateError("lines", "too many steps in all")
            most, taken = contour(law, n, *(line[k] for k in LINE)) if line else (few(law, n) if known else 0, known)
            found, steps = [*found, most], steps + taken
        if not found:
            raise CertificateError("lines", "expected a line: too many users or outputs for a sum over count vectors")
        worst = max(worst, -(-((singular * n << FINE - BITS) + min(found)) * factor // (n << BITS)))
    return min(worst, 1 << FINE)


def check(content: Any, *expected: Any) -> str:
    """Return the statement that a file proves; CertificateError names the place where it proves none."""
    rest = dict(content) if type(content) is dict else {}
    said = parse(shown := rest.pop("statement", None))
    lines = read(rest, "file", FILE)["lines"]
    if content["digest"] != digest(content):
        raise CertificateError("file.digest", "changed after the digest was taken")
    text = json.dumps(shown, sort_keys=True)
    if any(other != shown or json.dumps(other, sort_keys=True) != text for other in expected):
        raise CertificateError("statement", "not the expected one")
    if value(said, lines) * said["delta"][2] > said["delta"][1] << FINE:
        raise CertificateError("statement.delta", "smaller than the bound that was found")
    return sentence(said)


def digest(content: dict[str, Any]) -> str:
    """Digest of a file: of its JSON with sorted keys, without itself."""
    text = json.dumps({name: content[name] for name in content if name != "digest"}, sort_keys=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def load(name: Any) -> Any:
    """Return the content of a file; ValueError if it is no JSON in UTF-8, or names a key twice."""

    def unique(entries: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(found := dict(entries)) < len(entries):
            raise ValueError("an object names a key twice")
        return found

    with open(name, "rb") as file:
        return json.loads(file.read().decode("utf-8-sig"), object_pairs_hook=unique)


if __name__ == "__main__":
    try:
        sys.stdout.write(f"PROVED: {check(*map(load, sys.argv[1:] or ['']))}\n")
    except CertificateError as refused:
        sys.exit(f"NOT PROVED: {': '.join(refused.args)}")
    except (OSError, RecursionError, ValueError) as refused:
        sys.stderr.write(f"NOT READ: {sys.argv[1:]}: {refused} (usage: bound.py bound.json [statement.json])\n")
        sys.exit(2)
