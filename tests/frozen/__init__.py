"""Answers of every public door, kept: ``python -m tests.frozen record|compare``.

``requests`` draws them, ``doors`` asks, ``answers`` keeps numbers and no prose, ``differences`` compares, ``table``
holds rows and the lines that allow a change. Only names of ``symshuffle`` itself and the command line are used, so that
modules may move.
"""
