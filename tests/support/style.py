"""Finds what STYLE.md refuses: in comments, docstrings and pages, and in commit subjects."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

FOLDERS = (".ci", ".github", "benchmarks", "docs", "examples", "include", "python", "src", "tests")
NOT_OURS = ("benchmarks/results", "build", "out")  # reports and builds, which git ignores
HASH = {".cmake", ".toml", ".yml", ".yaml", ".sh", ".in", ""}  # "" is .ci/run and the like
CPP = {".hpp", ".cpp", ".h", ".c"}
PAGES = {".md", ".rst"}

OPENINGS = ("What of", "Those of", "Those that", "That of", "That which")
_ANY = "|".join(r"\s+".join(opening.split()) for opening in OPENINGS)
# At the beginning in any case; later a capital letter begins a sentence.
_OPENING = re.compile(rf"\A[\W_]*(?P<first>(?i:{_ANY}))\b|(?<![\w`])(?P<later>{_ANY})\b")

# In a whole file, also across the signs of comments: most files have none and are not taken apart.
_MAYBE = re.compile("|".join(r"\W+".join(opening.split()) for opening in OPENINGS), re.IGNORECASE)

TYPES = ("feat", "fix", "perf", "refactor", "docs", "test", "build", "ci", "style", "revert")
_SUBJECT = re.compile(
    rf"(?:{'|'.join(TYPES)})\([^()\s][^()]*\): (?P<verb>[a-z][a-z-]*) \S(?:.*[^.\s])?"
)
_NO_VERB = re.compile(  # a first word that has the form of a verb, and is none in the imperative
    "(?:an?|the|th[aeio][ts]e?|wh[a-z]+|how|of|in|on|with|for|by|from|to|no|not|all|any|each|every"
    "|one|two|some|more|less|its?|there|as|if|and|or|[a-z]*(?:ed|ing))"
)
_VERBS = {"bring", "embed", "exceed", "feed", "need", "proceed", "ring", "speed"}


class Passage(NamedTuple):
    """Text that a reader sees as one: a comment, a docstring, a paragraph of a page."""

    line: int
    text: str


def files(root: Path) -> Iterator[Path]:
    """Yield the text files that people write, in a fixed order."""
    yield from sorted(path for path in root.iterdir() if path.is_file() and _is_read(path))
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.is_file() and _is_read(path) and not name.startswith(NOT_OURS):
                yield path


def _is_read(path: Path) -> bool:
    return path.suffix in {".py", ".txt", *HASH, *CPP, *PAGES}


def passages(name: str, text: str) -> Iterator[Passage]:
    """Yield the passages of a file's text; what kind of file it is follows from its name."""
    suffix = Path(name).suffix
    if suffix == ".py":
        comments = [
            _Comment(token.start[0], token.string[1:], not token.line[: token.start[1]].strip())
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type == tokenize.COMMENT
        ]
        yield from _joined(comments)
        yield from _docstrings(text)
    elif suffix in CPP:
        yield from _joined(_cpp_comments(text))
    elif suffix in PAGES:
        yield from _split(1, _without_code(text))
    else:
        found = re.finditer(r"^(.*?)(?<!\S)#(.*)$", text, flags=re.MULTILINE)
        yield from _joined(
            _Comment(_line(text, match.start()), match[2], not match[1].strip()) for match in found
        )


class _Comment(NamedTuple):
    """One line of a comment, and whether the line has nothing but it."""

    line: int
    text: str
    alone: bool


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _joined(comments: Iterable[_Comment]) -> Iterator[Passage]:
    """Join lines that follow each other; an empty one, or code before it, begins a passage."""
    whole: list[_Comment] = []
    for comment in comments:
        continues = whole and comment.line == whole[-1].line + 1 and comment.alone
        if not (continues and comment.text.strip()):
            yield from _passage(whole)
            whole = []
        whole.append(comment)
    yield from _passage(whole)


def _passage(comments: list[_Comment]) -> Iterator[Passage]:
    if comments:
        yield Passage(comments[0].line, "\n".join(comment.text for comment in comments))


def _docstrings(text: str) -> Iterator[Passage]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            yield from _split(
                docstring.lineno, "\n".join(lines[docstring.lineno - 1 : docstring.end_lineno])
            )


def _cpp_comments(text: str) -> Iterator[_Comment]:
    """Yield the comments, each line of a block by itself; pass over strings and characters."""
    token = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//([^\n]*)|/\*(.*?)\*/'
    for match in re.finditer(token, text, flags=re.DOTALL):
        inside = match[1] if match[1] is not None else match[2]
        if inside is not None:
            alone = not text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip()
            for k, line in enumerate(inside.splitlines()):
                yield _Comment(_line(text, match.start()) + k, line, alone or k > 0)


def _without_code(page: str) -> str:
    """Blank what stands between a page's sentences: what its head sets, and code."""
    page = re.sub(r"\A---\n.*?^---$", _blank, page, flags=re.DOTALL | re.MULTILINE)
    page = re.sub(r"^(```+).*?^\1$", _blank, page, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]+`", _blank, page)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", "x", match[0])


def _split(first: int, text: str) -> Iterator[Passage]:
    """Split at blank lines, and before headings, items of a list and cells of a table."""
    start = 0
    for match in re.finditer(r"\n(?=\s*\n|\s*#|\s*[-*] )|(?<=\S) \| |\Z", text):
        part = text[start : match.start()]
        begins = start + len(part) - len(part.lstrip())
        if part.strip():
            yield Passage(first + text.count("\n", 0, begins), part.strip())
        start = match.start()


def refused_openings(name: str, text: str) -> Iterator[str]:
    """Yield a message for every sentence that opens with a word that hides its noun."""
    for passage in passages(name, text) if _MAYBE.search(text) else ():
        for match in _OPENING.finditer(passage.text):
            which = "first" if match["first"] else "later"
            line = passage.line + passage.text.count("\n", 0, match.start(which))
            words = " ".join(match[which].split())
            yield f"{name}:{line}: opens with {words!r}: name the thing instead (STYLE.md, rule 2)"


def refused_subject(subject: str) -> str | None:
    """Say what is wrong with a commit's subject, or return None."""
    match = _SUBJECT.fullmatch(subject)
    if match is None:
        return f"{subject!r}: expected 'type(scope): verb object', type one of {', '.join(TYPES)}"
    verb = match["verb"]
    if _NO_VERB.fullmatch(verb) and verb not in _VERBS:
        return f"{subject!r}: expected a verb in the imperative after the colon, not {verb!r}"
    return None
