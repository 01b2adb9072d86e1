"""How the name of a thinned mechanism begins; apart from the registry, so that who reads names loads no algebra."""

from typing import Final

THINNED: Final = "thinned "
