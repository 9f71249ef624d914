#!/usr/bin/env python3
"""Does what a page says: fenced blocks whose first line names a file (```c push.c) become that file, and lines of indented
blocks that begin with `$ ` are run one after the other in the folder of these files. Each must end well. The files are
those of the examples, to the letter.        walk.py PAGE EXAMPLES"""
import pathlib
import re
import subprocess
import sys
import tempfile


def main():
    page, examples = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    text = page.read_text()
    files = dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```$", text, flags=re.S | re.M))
    commands = re.findall(r"^    \$ (.+)$", text, flags=re.M)
    if len(files) < 3 or len(commands) < 3:
        sys.exit(f"{page}: {len(files)} files and {len(commands)} commands, three of each are wanted")
    with tempfile.TemporaryDirectory() as folder:
        for name, body in files.items():
            if (examples / name).read_text() != body:
                sys.exit(f"{page}: {name} differs from examples/{name}")
            (pathlib.Path(folder) / name).write_text(body)
        for command in commands:
            print("$", command, flush=True)
            done = subprocess.run(["sh", "-c", command], cwd=folder, check=False)
            if done.returncode:
                sys.exit(f"{page}: `{command}` ends with {done.returncode}")


if __name__ == "__main__":
    main()
