"""Drawn calls of commands and public functions: each answers, or is refused in one line.

Half of the calls are command lines, half expressions in public names. Half of each have everyday values, drawn from
``grammar.txt``; in the other half one or two arguments have extreme ones. Options and arguments are read from the
application and from signatures. A call runs in a process and a folder of its own. An everyday call that is refused is
asked again with parts left away; one that then answers is a witness that the refusal may be false.

    python -m tests.fuzz --calls 2000 --jobs 2
    python -m tests.fuzz --seed S --call 17
    python -m tests.fuzz --text "symshuffle delta krr -p k=3 --eps0 1 --n 10 --eps 1"
"""
