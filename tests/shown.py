"""What a notebook shows of a value: the two methods that Jupyter asks for by name."""

import json
from typing import Any


def as_html(value: Any) -> str:
    return value._repr_html_()


def as_latex(value: Any) -> str:
    return value._repr_latex_()


def shows_itself(value: Any) -> bool:
    """Whether all that the value offers to be shown by is there: text, HTML, LaTeX, plain data that JSON takes."""
    seen = [repr(value), str(value)]
    seen += [
        show(value) for name, show in (("_repr_html_", as_html), ("_repr_latex_", as_latex)) if hasattr(value, name)
    ]
    if hasattr(value, "to_dict"):
        seen.append(json.dumps(value.to_dict()))
    return all(isinstance(text, str) and text for text in seen)
