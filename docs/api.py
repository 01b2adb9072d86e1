"""Write docs/api.md: every public name, at the address from which it is imported, and what it is.

python docs/api.py             # the page
python docs/api.py --accept    # tests/golden/signatures.txt as well: the names and signatures that are promised
"""

import importlib
import inspect
import re
import sys
import typing
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "api.md"
PROMISED = ROOT / "tests" / "golden" / "signatures.txt"

HEAD = """# Public names

Import a name from the address where this page lists it: `from symshuffle import delta`, `from symshuffle.design import
ExtremalChannel`. What is not listed here may move or change in any version; names and signatures that are listed change
with a line in the changelog only. `docs/api.py` writes this page.
"""


def addresses() -> dict[str, list[str]]:
    """The public names by address: of the top level, then of each room."""
    stubs = sorted((ROOT / "symshuffle").glob("*/__init__.pyi"))
    rooms = ["symshuffle", *(f"symshuffle.{stub.parent.name}" for stub in stubs)]
    return {room: sorted(importlib.import_module(room).__all__, key=str.lower) for room in rooms}


def public() -> Iterator[tuple[str, str, Any]]:
    """Address, name and value of every public name; enumerations of ``choices`` come as names of their own."""
    for room, names in addresses().items():
        for name in names:
            value = getattr(importlib.import_module(room), name)
            if not isinstance(value, ModuleType):
                yield room, name, value
            elif value.__name__ == "symshuffle.base.choices":
                own = {key: one for key, one in vars(value).items() if is_choice(one)}
                yield from ((f"{room}.{name}", key, own[key]) for key in sorted(own))


def is_choice(value: Any) -> bool:
    """Whether a value is an alias of some texts."""
    return typing.get_origin(value) is typing.Literal


def what(value: Any) -> str:
    """First sentence of a docstring; of a constant its type."""
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        texts = ", ".join(f"`{one}`" for one in typing.get_args(value))
        return f"choice: {texts}" if is_choice(value) else f"constant, `{type(value).__name__}`"
    first = (inspect.getdoc(value) or "").partition("\n\n")[0]
    text = re.sub(r":math:`([^`]*)`", r"$\1$", " ".join(first.split()).replace("|", "\\|"))
    return re.sub(r":\w+:`~?([^`]*)`", r"`\1`", text).replace("``", "`")


def page() -> str:
    """The text of the page."""
    rows: dict[str, list[str]] = {}
    for address, name, value in public():
        rows.setdefault(address, []).append(f"| `{name}` | {what(value)} |")
    parts = [
        f"\n## `{address}`\n\n| name | what it is |\n|---|---|\n" + "\n".join(found) for address, found in rows.items()
    ]
    return HEAD + "\n".join(parts) + "\n"


def signatures() -> str:
    """One line for each public name with its signature, and for each public method of a class."""
    lines = []
    for address, name, value in public():
        if not (inspect.isclass(value) or inspect.isroutine(value)):
            kind = ", ".join(typing.get_args(value)) if is_choice(value) else type(value).__name__
            lines.append(f"{address}.{name}: {kind}")
            continue
        if inspect.isclass(value) and issubclass(value, Enum):
            lines.append(f"{address}.{name}: {', '.join(map(str, value))}")
            continue
        lines.append(f"{address}.{name}{_signature(value)}")
        if inspect.isclass(value):
            own = {key for one in value.__mro__ if one.__module__.startswith("symshuffle") for key in vars(one)}
            own |= getattr(value, "__dataclass_fields__", {}).keys()
            for key in sorted(key for key in own if not key.startswith("_")):
                member = inspect.getattr_static(value, key, None)
                called = getattr(value, key) if isinstance(member, classmethod | staticmethod) else member
                lines.append(f"    .{key}{_signature(called) if inspect.isroutine(called) else ''}")
    return "\n".join(lines) + "\n"


def _signature(value: Any) -> str:
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):  # an enumeration, or a type of another library
        return ""
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in found.parameters.values()]
    text = str(found.replace(parameters=bare, return_annotation=inspect.Signature.empty))
    return re.sub(r"<(?:function )?([\w.]+)(?: at 0x\w+|: [^>]*)>", r"\1", text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    if "--accept" in sys.argv[1:]:
        PROMISED.write_text(signatures(), encoding="utf-8")
