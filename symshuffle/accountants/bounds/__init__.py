"""From the laws of a covering to a bracket at one level, or to the level that meets a target."""
