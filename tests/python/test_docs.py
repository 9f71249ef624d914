"""Walks docs/python.md literally: every program runs as it stands, in a folder of its own, and prints what the page says.
Words must be the same, numbers within 1 %.                                   test_docs.py MODULE_FOLDER PAGE"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

module_folder, page = sys.argv[1:3]
NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")


def programs():
    """Pairs of a program and what it prints."""
    blocks = re.findall(r"```(python|text)\n(.*?)```", Path(page).read_text(), re.S)
    kinds = [kind for kind, _ in blocks]
    assert kinds == ["python", "text"] * (len(blocks) // 2) and blocks, f"each program is followed by its output: {kinds}"
    texts = [text for _, text in blocks]
    return list(zip(texts[::2], texts[1::2]))


class Page(unittest.TestCase):
    def test_every_program_prints_what_the_page_says(self):
        environment = dict(os.environ, PYTHONPATH=module_folder)
        for number, (program, expected) in enumerate(programs(), 1):
            with self.subTest(program=number), tempfile.TemporaryDirectory() as folder:
                script = Path(folder, "program.py")
                script.write_text(program)
                done = subprocess.run([sys.executable, script], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(NUMBER.sub("#", done.stdout), NUMBER.sub("#", expected))
                for found, told in zip(NUMBER.findall(done.stdout), NUMBER.findall(expected)):
                    self.assertAlmostEqual(float(found), float(told), delta=0.01 * abs(float(told)) + 1e-9)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
