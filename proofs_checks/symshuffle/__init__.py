"""Checks of what symshuffle itself claims: that its engines compute what they say."""
