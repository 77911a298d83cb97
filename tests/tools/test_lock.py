import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from quaere.tools.errors import BusyError, WorkspaceError
from quaere.tools.lock import HOLDER, LOCK, writer_lock

HOLD = """
import sys, time
from pathlib import Path
from quaere.tools.lock import writer_lock
with writer_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock until a line is written to it."""
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "held\n"
        yield child
        child.kill()


def taken(folder, seconds=0.0):
    with writer_lock(folder, seconds):
        return True


def test_a_second_process_is_told_who_holds_the_lock_in_one_sentence(tmp_path, holder):
    with pytest.raises(BusyError, match=rf"pid {holder.pid}, since 2\d\d\d-") as caught:
        taken(tmp_path, 0.1)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 1


def test_a_second_process_waits_until_the_first_lets_go(tmp_path, holder):
    threading.Timer(0.3, lambda: (holder.stdin.write("go\n"), holder.stdin.flush())).start()
    assert taken(tmp_path, 30)


def test_a_killed_holder_holds_nothing(tmp_path, holder):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert (tmp_path / HOLDER).exists()
    assert taken(tmp_path)


def test_one_thread_may_take_it_again_and_keeps_it_to_the_end(tmp_path):
    with writer_lock(tmp_path):
        assert taken(tmp_path)
        assert _from_another_thread(tmp_path) == "busy"
    assert _from_another_thread(tmp_path) == "taken"


def test_it_is_let_go_when_the_work_fails(tmp_path):
    with pytest.raises(ZeroDivisionError), writer_lock(tmp_path):
        raise ZeroDivisionError
    assert _from_another_thread(tmp_path) == "taken"


def test_a_damaged_note_of_the_holder_only_costs_the_name(tmp_path, holder):
    (tmp_path / HOLDER).write_text("[]")
    with pytest.raises(BusyError, match="another quaere process writes to"):
        taken(tmp_path)


@pytest.mark.parametrize("known", [False, True])
def test_where_nothing_can_be_written_it_says_so_in_one_sentence(known):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if known:
            (folder / LOCK).touch(0o444)
        folder.chmod(0o555)
        user = os.geteuid()
        if user == 0:  # root may write anything
            os.seteuid(65534)
        try:
            with pytest.raises(WorkspaceError, match="cannot be written") as caught:
                taken(folder)
        finally:
            os.seteuid(user)
            folder.chmod(0o700)
    assert "\n" not in str(caught.value)


def _from_another_thread(folder):
    found = []

    def take():
        try:
            found.append("taken" if taken(folder) else "")
        except BusyError:
            found.append("busy")

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return found[0]
