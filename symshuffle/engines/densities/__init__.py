"""The engine of laws with a density: Bromwich's integral, cells, lines and their error bounds."""
