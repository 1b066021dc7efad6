"""The process that tests fork from: when it is gone, the next test has another."""

import os
import signal

import pytest
from processes import CAN_FORK, run

OWN = """
import os, signal, sys
sys.path[:0] = [TESTS]
import processes
from processes import run
print(run("-c", "import os; print(os.getppid())").stdout.strip())
server = int(run("-c", "import os; print(os.getppid())").stdout)
os.kill(server, signal.SIGKILL)
again = run("-c", "print('still here')")
print(again.stdout.strip(), again.returncode)
"""


@pytest.mark.slow
@pytest.mark.skipif(not CAN_FORK, reason="this machine cannot fork from a server")
def test_a_server_that_was_killed_is_started_again():
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    ran = run("-c", OWN.replace("TESTS", repr(tests)), real=True, check=True)
    first, then = ran.stdout.splitlines()
    assert int(first) > 1
    assert then == "still here 0"
    with pytest.raises(ProcessLookupError):
        os.kill(int(first), signal.SIG_DFL)
