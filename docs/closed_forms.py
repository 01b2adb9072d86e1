"""Write the closed forms of the named mechanisms, derived from their definitions."""

from pathlib import Path

from symshuffle.decompositions import closed_forms

if __name__ == "__main__":
    target = Path(closed_forms.__file__).with_name(closed_forms.FILE)
    target.write_text(closed_forms.to_text(closed_forms.derived()), encoding="utf-8")
