"""What a notebook shows of a value: the two methods that Jupyter asks for by name."""

from typing import Any


def as_html(value: Any) -> str:
    return value._repr_html_()


def as_latex(value: Any) -> str:
    return value._repr_latex_()
