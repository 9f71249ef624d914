"""What can go wrong: one exception for all that the library refuses, with every problem's file and line."""

from __future__ import annotations

from typing import NamedTuple, Sequence


class Problem(NamedTuple):
    """One thing that is wrong with a scene. line 0: not a place in a file (a setting)."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        """As a compiler would print it: file:line: text."""
        return f"{self.file}:{self.line}: {self.text}" if self.line > 0 else f"{self.file}: {self.text}"


class Error(Exception):
    """What the library refused or could not do.

    status: a word: "bad input", "no memory", "file error", "interrupted", ...
    problems: everything that is wrong with a scene; empty when the error is not about one.
    file, line: of the first problem; "" and 0 when there is none.
    """

    status: str
    problems: tuple[Problem, ...]

    def __init__(self, status: str, message: str, problems: Sequence[Problem] = ()) -> None:
        """With problems, the message is made from them, a line each."""
        super().__init__("\n".join(map(str, problems)) if problems else message)
        self.status = status
        self.problems = tuple(problems)

    @property
    def file(self) -> str:
        """File of the first problem, "" when there is none."""
        return self.problems[0].file if self.problems else ""

    @property
    def line(self) -> int:
        """Line of the first problem, 0 when there is none."""
        return self.problems[0].line if self.problems else 0

    def __reduce__(self) -> tuple[type[Error], tuple[str, str, tuple[Problem, ...]]]:
        """So that it can come from a worker process."""
        return Error, (self.status, str(self), self.problems)
