"""Complete docstrings from a glossary: `documented` adds parameters, results and errors.

The docstring in the source has the parts that differ from function to function: a summary, the
formula, notes and an example. The glossary explains each symbol once, with its shape, unit and
frame. `documented` joins both when the package is imported, so that ``help()``, IPython, Sphinx and
doctest show the full text:

*Parameters*
    One entry for each argument, in the order of the signature, from `glossary.ARGUMENTS`.
    The entry ``step*.active`` applies to ``active`` of functions whose names begin with ``step``.
*Returns*
    A function with one result names it in its docstring. A function with several results has their
    class in its annotation. The entries come from `glossary.RESULTS`; the entry ``Class.field``
    applies to a field that differs in this class.
*Raises*
    The conditions that `errors` has for the arguments.
*Examples*
    An example that imports nothing begins with ``dtau``, NumPy if it uses that, the quadruped as
    ``model`` and, if it calls with ``q`` and assigns none, a random state. Examples of functions
    without a model begin with their package.

A function that differs has these sections in its own docstring, with only the entries that differ.
Such an entry replaces the glossary's; an entry that begins with ``...`` is appended to it. A head
without a type takes the glossary's type.

``src/python/complete_docstrings.py`` writes the same texts into the modules of a wheel, because
editors read sources without running them. The script runs with the Python that builds the wheel, so
this package imports neither NumPy nor the compiled core.
"""

from dtau.docstrings.assembly import documented as documented
