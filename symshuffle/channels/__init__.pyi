"""The public names of this room, and the module that each is loaded from on first use."""

from .channel_file import read_channel as read_channel
from .shuffled import law_divergence as law_divergence
from .shuffled import worst_shuffled_divergence as worst_shuffled_divergence
