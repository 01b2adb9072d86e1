"""Write docs/mechanisms.md: every named mechanism with its definition, decomposition and law of G, all derived."""

from pathlib import Path
from typing import Any

from symshuffle.base.errors import Unsupported
from symshuffle.cli import vectors
from symshuffle.decompositions.symbolic import optimal_decomposition
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.registry import MECHANISMS

PAGE = Path(__file__).with_suffix(".md")

HEAD = """# Mechanisms

Written by `make pages` from the definitions in [symshuffle/mechanisms](../symshuffle/mechanisms); do not edit. Each
mechanism of finitely many outputs is defined once, by the states that an input can have seen from an output; its
decomposition is derived from that. [Mechanisms of vectors](#mechanisms-of-vectors) stand at the end.

Here $\\lambda = e^{\\varepsilon_0}$ and $x = e^{\\varepsilon}$; $a$ and $b$ are the weights of the shared components in
the two rows that are compared, $c$ their weights in the blanket (decomposition, Theorem 7), and $G$ is the
amplification variable (decomposition, Theorem 12). `symshuffle decompose NAME` prints the same.
"""

LAPLACE = r"""## laplace

*Laplace noise* of scale $1/\varepsilon_0$ on a bit, or on $[0, 1]$ (`-p domain=unit`). Pair: the two inputs 0 and 1
(decomposition, Appendix B). It has a continuum of outputs, so there are no classes to count. With $r = e^u$ and $u$ in
$[0, \varepsilon_0]$ its law of $G$ consists of three atoms and two segments
([symshuffle/channels/mixed_law.py](../symshuffle/channels/mixed_law.py)):

```math
\begin{array}{ll}
G & \text{probability, or density in } u \\ \hline
\lambda - x & \frac{1}{2 \lambda} \\
1 - \lambda x & \frac{1}{2 \lambda} \\
0 & 1 - \frac{1}{\sqrt{\lambda}} \\
e^{u} - x & \frac{1}{4 \sqrt{\lambda}} e^{-u/2} \\
1 - x e^{u} & \frac{1}{4 \sqrt{\lambda}} e^{-u/2}
\end{array}
```
"""

ANY = r"""## any-ldp

*Any randomizer of a local budget*, the same for all users, of which nothing is known but that it is
$\varepsilon_0$-LDP. The bound is that of one pair of laws, which the claim `symshuffle.generic-bound` proves
(`symshuffle show symshuffle.generic-bound`). If the randomizer is known, naming it gives a smaller bound.
"""

VECTORS = r"""## Mechanisms of vectors

The input $v$ is a vector of length at most 1 in $d$ dimensions, the message $u$ a vector as well. $\sigma$ is the
uniform law of the unit sphere. These mechanisms have a null symbol, so that neighbours may differ in presence
(`--adjacency zero-out`) as well as in the input (`replace-one`). Their laws of $G$ have densities and no finite table;
`symshuffle delta`, `epsilon` and `calibrate` evaluate them. The notebook [Means of vectors under
shuffling](../notebooks/means_of_vectors_under_shuffling.ipynb) works with them.
"""

DENSITIES = {
    "bmg": r"""$\gamma N(0, \sigma_0^2 I) + (1 - \gamma) N(v, \sigma_0^2 I)$. The null symbol sends
$N(0, \sigma_0^2 I)$.""",
    "privunit": r"""$\frac{p}{s}$ against $\sigma$ on the cap $\langle u, v\rangle \ge \theta$, and
$\frac{1 - p}{1 - s}$ elsewhere, where $s$ is the share of the sphere that the cap has. Inputs are unit vectors.
The null symbol sends $\sigma$.""",
    "sphere-linear": r"""$1 + c \langle u, v\rangle$ against $\sigma$. The null symbol sends $\sigma$.""",
    "clipped-linear": r"""$\gamma + \beta (\langle u, v\rangle - t_0)_+$ against $\sigma$, where $t_0$ is `clip`; mass 1
and the lower index `chi` determine $\gamma$ and $\beta$. Inputs are unit vectors. The null symbol sends $\sigma$.""",
    "gaussian": r"""$N(v, \sigma_0^2 I)$. The null symbol sends $N(0, \sigma_0^2 I)$.""",
}
"""The law of the message of each mechanism of vectors."""


def render() -> str:
    """The whole page."""
    sections = [*(_section(name) for name in MECHANISMS), LAPLACE, ANY, VECTORS]
    return "\n".join([HEAD, *_summary(), "", *sections, *(_vector_section(row) for row in vectors.rows())])


def _summary() -> list[str]:
    lines = ["| name | mechanism | parameters | defined in |", "|---|---|---|---|"]
    for name, make in MECHANISMS.items():
        mechanism = make()
        parameters = "<br>".join(f"`{p.name}`: {p.meaning}; {p.range}" for p in mechanism.parameters)
        lines.append(f"| [`{name}`](#{name}) | {mechanism.title} | {parameters} | {mechanism.source} |")
    budget = "`lam`: local ratio cap exp(eps0); a number > 1"
    lines.append(f"| [`laplace`](#laplace) | Laplace noise | {budget} | decomposition, Appendix B |")
    lines.append(f"| [`any-ldp`](#any-ldp) | any randomizer of a local budget | {budget} | symshuffle.generic-bound |")
    for row in vectors.rows():
        parameters = "<br>".join(f"`{name}`: {meaning}" for name, meaning in row["parameters"].items())
        lines.append(f"| [`{row['name']}`](#{row['name']}) | {row['title']} | {parameters} | {row['source']} |")
    return lines


def _vector_section(row: dict[str, Any]) -> str:
    return f"### {row['name']}\n\n*{row['title']}* ({row['source']}). Law of a message:\n\n{DENSITIES[row['name']]}\n"


def _section(name: str) -> str:
    mechanism = MECHANISMS[name]()
    parts = [f"## {name}", f"*{mechanism.title}*. Pair: {mechanism.pair}."]
    parts += [_display(mechanism._repr_latex_().strip("$").removeprefix("\\displaystyle ")), *_derived(mechanism)]
    return "\n\n".join(parts) + "\n"


def _derived(mechanism: Mechanism) -> list[str]:
    try:
        derived = optimal_decomposition(mechanism, limits=False)
    except Unsupported as reason:
        return [f"No closed form with open parameters: {reason}."]
    parts = [_display(derived.latex()), _display(derived.gparv_latex())]
    if any(parameter.has_limit for parameter in mechanism.parameters):
        limit = optimal_decomposition(mechanism)
        parts += ["In the limit of a large domain:", _display(limit.latex()), _display(limit.gparv_latex())]
    return parts


def _display(latex: str) -> str:
    return f"```math\n{latex}\n```"


def write() -> None:
    """Write the page."""
    PAGE.write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    write()
