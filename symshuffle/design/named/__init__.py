"""Named families of design problems whose optima are known in closed form."""
