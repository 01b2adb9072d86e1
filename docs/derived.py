"""Write the closed forms of named mechanisms and their page, in one process, which derives decompositions once."""

import closed_forms
import mechanisms

if __name__ == "__main__":
    closed_forms.write()
    mechanisms.write()
