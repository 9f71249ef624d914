"""Worker processes: each holds a part of many things and answers questions about them.

Processes are spawned, never forked: a fork leaves the library's threads behind. Their results do not depend on how many
there are, because what they hold does not know of the others.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from multiprocessing.connection import Connection
from typing import Any, Callable, Optional, Sequence

from ._library import threads

_CONTEXT = multiprocessing.get_context("spawn")


def share_out(count: int, workers: int) -> list[range]:
    """0 .. count - 1 in as many parts as there are workers, equal but for one."""
    edges = [count * i // workers for i in range(workers + 1)]
    return [range(a, b) for a, b in zip(edges, edges[1:])]


def _serve(pipe: Connection, make: Callable[..., Any], arguments: tuple[Any, ...], cores: int) -> None:
    """What a worker does until its pipe is closed: make a server, then call its methods by name."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the main process, which ends this one
    threads(cores)
    server: Any = None
    while True:
        try:
            if server is None:
                server, result = make(*arguments), None
            else:
                name, given = pipe.recv()
                result = getattr(server, name)(*given)
            pipe.send((True, result))
        except EOFError:
            return
        except Exception as why:
            pipe.send((False, why))
            if server is None:
                return


class Crew:
    """Workers with a server each: make(*arguments[i]) in worker i."""

    def __init__(self, make: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> None:
        """Starts them all and waits until they are ready."""
        cores = max(1, (os.cpu_count() or 1) // len(arguments))
        self._pipes: list[Connection] = []
        self._processes: list[Any] = []
        for given in arguments:
            ours, theirs = _CONTEXT.Pipe()
            process = _CONTEXT.Process(target=_serve, args=(theirs, make, given, cores), daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)
        self._collect()

    def __len__(self) -> int:
        """Workers."""
        return len(self._pipes)

    def ask(self, name: str, *given: Any, each: Optional[Sequence[tuple[Any, ...]]] = None) -> list[Any]:
        """Calls a method of every server at the same time, with the same arguments or with `each` worker's own."""
        if not self._pipes:
            raise RuntimeError("the workers were closed")
        for i, pipe in enumerate(self._pipes):
            pipe.send((name, each[i] if each is not None else given))
        return self._collect()

    def _collect(self) -> list[Any]:
        """All answers. The first failure is raised after all have answered, so that the next question is understood."""
        results, failure = [], None
        try:
            for pipe in self._pipes:
                good, result = pipe.recv()
                if not good and failure is None:
                    failure = result
                results.append(result)
        except EOFError:
            self.close()
            raise RuntimeError("a worker process ended; a script that starts workers needs "
                               "`if __name__ == '__main__':` around what it does") from None
        except BaseException:  # Ctrl-C: what workers are computing is given up
            self.close()
            raise
        if failure is not None:
            raise failure
        return results

    def close(self) -> None:
        """Ends the workers."""
        for process in self._processes:
            process.terminate()
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join()
        self._pipes, self._processes = [], []

    def __del__(self) -> None:
        """Ends the workers."""
        if getattr(self, "_processes", None):
            self.close()
