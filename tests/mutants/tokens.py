"""Reads C++ and Python as tokens, as far as operators of mutants need it: `Code`.

Both are read by the same rules, because clang-format and ruff put spaces around binary operators
alone. A `<` without spaces opens a template's arguments.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import NamedTuple

# How strongly operators bind; what is not listed here ends an expression.
_LEVELS = (
    ("?", ":", "if", "else"),
    ("||", "or"),
    ("&&", "and", "not"),
    ("==", "!=", "<", "<=", ">", ">=", "in", "is"),
    ("<<", ">>", "|", "&", "^"),
    ("+", "-"),
    ("*", "/", "%", "@", "//"),
)
LEVEL = {operator: level for level, operators in enumerate(_LEVELS, 1) for operator in operators}
_ENDS = {",", ";", "=", "return", "yield", "lambda", "for", "assert", "raise", "while", "elif"}
_CLOSES = {"(": ")", "[": "]", "{": "}"}

_HIDDEN = {
    "cpp": r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\''
    r"|^[ ]*#(?:[^\n]*\\\n)*[^\n]*",
    "py": r'#[^\n]*|""".*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
}
_TOKEN = re.compile(
    r"(?P<number>(?<![\w.])(?:\d+\.\d*|\d+(?=e))(?:e[-+]?\d+)?(?![\w.])|(?<![\w.])\d+(?![\w.]))"
    r"|(?P<name>[A-Za-z_](?:\w|::(?=\w))*(?:<(?=[\w:])[\w:,*& <>]*>(?![=>\w]))?)"
    r"|(?P<operator>(?<=\s)(?:[-+*/%@<>=|&^]|//|[-+*/|&%]=|[=!<>]=|&&|\|\||<<|>>|[?:])(?=\s))"
    r"|(?P<sign>(?<![-\w)\]>])[-!](?=[\w(*]))|(?P<string>\"[\"\n]*)"
    r"|(?P<bracket>[()\[\]{}])|(?P<end>[,;]|(?<!:):(?!:))|(?P<other>[.~*&]|->|\+\+|--)"
)


class Token(NamedTuple):
    """A piece of the text from start to end."""

    kind: str
    text: str
    start: int
    end: int


class Code:
    """The text of a file, its tokens outside strings and comments, and where expressions end."""

    def __init__(self, text: str, python: bool) -> None:
        self.text, self.python = text, python
        pattern = _HIDDEN["py" if python else "cpp"]
        self.masked = re.sub(
            pattern,
            lambda x: re.sub(r"[^\n]", '"' if x[0][0] in "\"'" else " ", x[0]),
            text,
            flags=re.M | re.S,
        )
        self.tokens = [
            Token(str(x.lastgroup), x[0], x.start(), x.end()) for x in _TOKEN.finditer(self.masked)
        ]

        # Of brackets, the one that closes or opens them; of all tokens, the number around them.
        self.partner: dict[int, int] = {}
        self.depth: list[int] = []
        opened: list[int] = []
        for i, token in enumerate(self.tokens):
            bracket = token.text if token.kind == "bracket" else ""
            if opened and bracket == _CLOSES[self.tokens[opened[-1]].text]:
                self.partner[i] = opened.pop()
                self.partner[self.partner[i]] = i
            self.depth.append(len(opened))
            if bracket in _CLOSES:
                opened.append(i)

    def extent(self, i: int, level: int, right_level: int | None = None) -> tuple[int, int]:
        """The text around token i, as far as operators bind at least as strongly as these levels.

        With the level of an operator and the next one: both of its operands.
        """
        start = end = i
        while start > 0 and not self._ends(start - 1, level, ")]}", "([{", start):
            start = self.partner.get(start - 1, start - 1)
        right = level if right_level is None else right_level
        last = len(self.tokens) - 1
        while end < last and not self._ends(end + 1, right, "([{", ")]}", end + 1):
            end = self.partner.get(end + 1, end + 1)
        return self.tokens[start].start, self.tokens[end].end

    def _ends(self, i: int, level: int, skipped: str, ending: str, after: int) -> bool:
        token = self.tokens[i]
        if token.kind == "bracket":
            return token.text in ending or (token.text in skipped and i not in self.partner)
        if self.python and self._new_line(after) and not self.depth[i]:
            return True
        bound = LEVEL.get(token.text)
        if bound is not None and token.kind in ("operator", "name"):
            return bound < level
        return token.text in _ENDS or token.kind in ("operator", "end")

    def opens_line(self, i: int) -> bool:
        """Whether a logical line of Python begins with token i."""
        return not self.depth[i] and (i == 0 or self._new_line(i))

    def _new_line(self, i: int) -> bool:
        return "\n" in self.text[self.tokens[i - 1].end : self.tokens[i].start]

    def arguments(self, i: int) -> list[str]:
        """The arguments of a call whose opening bracket is token i."""
        found: list[str] = []
        start = k = i + 1
        while k <= self.partner[i]:
            if k == self.partner[i] or self.tokens[k].text == ",":
                if k > start:
                    found.append(self.text[self.tokens[start].start : self.tokens[k - 1].end])
                start = k + 1
            elif self.tokens[k].text in _CLOSES:
                k = self.partner[k]
            k += 1
        return found

    @cached_property
    def statements(self) -> list[tuple[int, int]]:
        """Statements, from start to end, and the heads of blocks; in Python logical lines."""
        found, start, k = [], 0, 0
        while k < len(self.tokens):
            token = self.tokens[k]
            if self.python:
                ends = k + 1 == len(self.tokens) or self.opens_line(k + 1)
            elif token.text in _CLOSES and not self._opens_block(k):
                k, ends = self.partner[k], False
            else:
                ends = token.text in (";", "{", "}")
            if ends:
                found.append((self.tokens[start].start, token.end))
                start = k + 1
            k += 1
        return found

    def _opens_block(self, i: int) -> bool:
        """Whether a bracket of C++ opens a block, not a list of numbers."""
        text = self.masked[: self.tokens[i].end]
        return text[-1] == "{" and not re.search(r"(?:\S|[=(,{?:<]\s+|return\s+){$", text)
