"""Draw the pictures of pages: by a command that the page shows, or by the library.

python docs/pictures.py [FOLDER]
"""

import io
import shlex
import subprocess
import sys
from pathlib import Path

from symshuffle import randomizer
from symshuffle.accountants import amplification_curve
from symshuffle.design import shuffled_sizes

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "pictures"
COMMANDS = {
    "deployment.svg": "symshuffle amplification-curve krr -p k=50 --eps0 2 --delta 1e-8 --points 15 --plot eps.svg",
    "how-to-choose.svg": "symshuffle tradeoff krr -p k=20 --eps0 3 --n 1000 --points 25 --plot errors.svg",
}
"""The command of a picture; a page that shows the picture shows the command."""

LEVELS = ("0.5", "1", "2", "4")
USERS = [round(10 ** (2 + i / 3)) for i in range(13)]


def amplification() -> bytes:
    """What shuffling buys: eps of randomized response with 10 categories by the number of users, for four eps0."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for eps0, colour in zip(LEVELS, ("#0072B2", "#009E73", "#D55E00", "#CC79A7"), strict=True):
        curve = amplification_curve(randomizer("krr", k=10, eps0=eps0), delta="1e-6", users=USERS)
        users, eps = zip(*((float(point.x), float(point.y.upper)) for point in curve.points), strict=True)
        axes.plot(users, eps, color=colour)
        axes.annotate(f"eps0 = {eps0}", (users[-1], eps[-1]), (6, -3), textcoords="offset points", color=colour)
    axes.set(xscale="log", yscale="log", xlabel="users", ylabel="eps after shuffling, at delta = 1e-6", xlim=(80, 5e6))
    axes.grid(alpha=0.3)
    stream = io.BytesIO()
    with rc_context({"svg.hashsalt": "symshuffle"}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return stream.getvalue()


INPUTS = (5, 10, 20, 50, 100, 200)
PEOPLE = (10, 20, 50, 100, 200, 500, 1000)


def best_sizes() -> bytes:
    """Best subset size at (1/2, 1e-6) by users and categories; grey where its risk is above that of "uniform"."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    found = shuffled_sizes(INPUTS, PEOPLE, eps="1/2", delta="1e-6")
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for (k, n), (size, risk) in found.items():
        colour = "#707070" if risk >= 1 - 1 / k else "#0072B2"
        axes.text(PEOPLE.index(n), INPUTS.index(k), str(size), ha="center", va="center", color="white",
                  bbox={"boxstyle": "round,pad=0.5", "color": colour})  # fmt: skip
    axes.set(xlim=(-0.6, len(PEOPLE) - 0.4), ylim=(-0.6, len(INPUTS) - 0.4), xlabel="users", ylabel="categories")
    axes.set_xticks(range(len(PEOPLE)), [str(n) for n in PEOPLE])
    axes.set_yticks(range(len(INPUTS)), [str(k) for k in INPUTS])
    axes.set_title('best subset size; grey: worse than answering "uniform"', fontsize=10)
    stream = io.BytesIO()
    with rc_context({"svg.hashsalt": "symshuffle"}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return stream.getvalue()


def draw(folder: Path) -> None:
    """Write all pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "amplification.svg").write_bytes(amplification())
    (folder / "best-sizes.svg").write_bytes(best_sizes())
    for name, command in COMMANDS.items():
        program, *arguments = shlex.split(command)
        words = [sys.executable, "-m", program, *arguments[:-1], str(folder / name)]
        subprocess.run(words, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
