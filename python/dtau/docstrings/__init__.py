"""Complete docstrings from a glossary: `documented` adds parameters, results and errors.

A function says what is its own: a summary, the formula, notes and an example. The glossary says
once what a symbol means, with its shape, unit and frame. `documented` puts both together when the
package is imported, so that ``help()``, IPython, Sphinx and doctest show one full text:

*Parameters*
    One entry for each argument, in the order of the signature, from `glossary.ARGUMENTS`.
*Returns*
    A function with one result names it; one with several has their class in its annotation. The
    entries come from `glossary.RESULTS`; ``Class.field`` is a field that means something else in
    one class.
*Raises*
    The conditions that `errors` knows for the arguments.

A function that differs writes these sections itself, with the entries that differ alone. Such an
entry replaces the text of the glossary; one that begins with ``...`` is added to it. A head without
a type takes that of the glossary.

``src/python/complete_docstrings.py`` writes the same texts into the modules of a wheel: editors
read sources and do not run them. So this package imports nothing that needs an installation.
"""

from dtau.docstrings.assembly import documented as documented
