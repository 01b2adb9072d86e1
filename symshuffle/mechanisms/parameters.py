"""The readers of levels, under the name that callers know; they are in :mod:`symshuffle.base.levels`."""

from symshuffle.base.levels import LARGEST_LEVEL as LARGEST_LEVEL  # noqa: PLC0414  # its name here stays
from symshuffle.base.levels import read_budget as read_budget  # noqa: PLC0414  # its name here stays
from symshuffle.base.levels import read_delta as read_delta  # noqa: PLC0414  # its name here stays
from symshuffle.base.levels import read_target as read_target  # noqa: PLC0414  # its name here stays
