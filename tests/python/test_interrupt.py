"""Ctrl-C in Python: soon, with the simulation as it was, and only when it is meant.   test_interrupt.py MODULE_FOLDER"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

module_folder = sys.argv[1]
sys.path.insert(0, module_folder)

import talus  # noqa: E402

# Steps that would take minutes.
LONG = """
return scene { talus = 1, engine = "sph", duration = 1, fps = 100, sph = { spacing = 0.02, iterations_least = 100000 },
  domain = { min = {0, 0, 0}, max = {1, 1, 1} },
  fill = { { material = liquid { density = 1000 }, shape = box { size = 0.4, center = {0.5, 0.25, 0.5} } } } }
"""
SECONDS = 1.0  # the promise


def interrupt_in(seconds):
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return time.process_time()


class Interrupts(unittest.TestCase):
    def test_inside_of_a_step(self):
        sim = talus.Sim(talus.Scene(LONG))
        before = sim.hash
        for call in (lambda: sim.step(1e-3), lambda: sim.advance(0.5)):
            begun = interrupt_in(0.3)
            with self.assertRaises(KeyboardInterrupt):
                call()
            self.assertLess((time.process_time() - begun) / talus.threads(), 0.3 + SECONDS)
            self.assertEqual(sim.hash, before)
        self.assertEqual(signal.getsignal(signal.SIGINT), signal.default_int_handler)
        quick = talus.Sim("stack")
        quick.step(0.01)  # the wish was taken back
        self.assertEqual(quick.steps, 1)

    def test_a_handler_that_does_not_raise_lets_it_go_on(self):
        heard = []
        before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
        try:
            with talus.Sim("tower") as sim, talus.Sim("tower") as other:
                interrupt_in(0.1)
                while not heard:
                    sim.advance(sim.time + 0.05)
                other.advance(sim.time)
                self.assertEqual(len(heard), 1)
                self.assertLess(abs(sim.view("bodies.position") - other.view("bodies.position")).max(), 0.1)
        finally:
            signal.signal(signal.SIGINT, before)

    def test_a_run_is_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "long.lua")
            path.write_text(LONG)
            interrupt_in(1.0)
            with self.assertRaises(KeyboardInterrupt):
                talus.run(path, folder=Path(folder, "out"), pictures=False)
            self.assertTrue(Path(folder, "out", "run.json").exists())

    def test_ignored_signals_stay_ignored(self):
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            with talus.Sim("stack") as sim:
                interrupt_in(0.05)
                sim.advance(0.2)
                time.sleep(0.1)
                self.assertEqual(sim.time, 0.2)
        finally:
            signal.signal(signal.SIGINT, before)

    def test_a_batch_ends_with_its_workers(self):
        batch = talus.Batch(LONG, count=2, workers=2)
        processes = list(batch._crew._processes)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        begun = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            batch.advance(1.0)
        self.assertLess(time.monotonic() - begun, 10)  # by the clock of a busy machine; the steps would take minutes
        self.assertFalse(any(process.is_alive() for process in processes))
        with self.assertRaisesRegex(RuntimeError, "closed"):
            batch.step()

    def test_a_program_ends(self):
        code = f"import sys; sys.path.insert(0, {module_folder!r}); import talus; sim = talus.Sim('''{LONG}'''); " \
               "print('here', flush=True); sim.advance(1)"
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        talk = process.communicate(timeout=60)[1]
        self.assertIn("KeyboardInterrupt", talk)
        self.assertEqual(process.returncode, -signal.SIGINT)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
