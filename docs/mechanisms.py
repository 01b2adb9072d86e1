"""Write docs/mechanisms.md: every named mechanism with its definition, decomposition and law of G, all derived."""

from pathlib import Path

from symshuffle.base.errors import Unsupported
from symshuffle.decompositions.symbolic import optimal_decomposition
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.registry import MECHANISMS

PAGE = Path(__file__).with_suffix(".md")

HEAD = """# Mechanisms

Written by `make pages` from the definitions in [symshuffle/mechanisms](../symshuffle/mechanisms); do not edit. Each
mechanism is defined once, by the states that an input can have seen from an output; everything below is derived from
that. Here $\\lambda = e^{\\varepsilon_0}$ and $x = e^{\\varepsilon}$; $a$ and $b$ are the weights of the shared
components in the two rows that are compared, $c$ their weights in the blanket (decomposition, Theorem 7), and $G$ is
the amplification variable (decomposition, Theorem 12). `symshuffle decompose NAME` prints the same.
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


def render() -> str:
    """The whole page."""
    return "\n".join([HEAD, *_summary(), "", *(_section(name) for name in MECHANISMS), LAPLACE])


def _summary() -> list[str]:
    lines = ["| name | mechanism | parameters | defined in |", "|---|---|---|---|"]
    for name, make in MECHANISMS.items():
        mechanism = make()
        parameters = "<br>".join(f"`{p.name}`: {p.meaning}; {p.range}" for p in mechanism.parameters)
        lines.append(f"| [`{name}`](#{name}) | {mechanism.title} | {parameters} | {mechanism.source} |")
    return lines


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


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
