"""The public names of this room, and the module that each is loaded from on first use."""

from . import choices as choices
from .choices import Arithmetic as Arithmetic
from .choices import SafeEnd as SafeEnd
from .numbers import Verdict as Verdict
from .numbers import enclose as enclose
from .numbers import format_decimal as format_decimal
from .numbers import format_log10 as format_log10
