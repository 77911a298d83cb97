"""Settings: where they come from, which comes first, and what is refused in what words."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from quaere.agent.assemble import Agent
from quaere.agent.settings import Settings, known_settings, load_settings
from quaere.agent.settings_page import page
from quaere.tools.errors import SettingsError
from quaere.tools.evidence import OWNER, Access, Validity
from quaere.tools.rulebook import Rule, Rulebook

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"
KEYS = [one.key for one in known_settings()]


def write(folder: Path, text: str) -> Path:
    (folder / "quaere.toml").write_text(text, "utf-8")
    return folder


def refusal(
    folder: Path, environ: dict[str, str] | None = None, flags: dict[str, object] | None = None
) -> str:
    with pytest.raises(SettingsError) as caught:
        load_settings(folder, environ or {}, flags or {})
    return str(caught.value)


def test_defaults_hold_without_file_and_variables(tmp_path: Path) -> None:
    assert load_settings(tmp_path, {"PATH": "/bin", "LANG": "C"}, {}) == Settings()


def test_flags_go_before_environment_before_file(tmp_path: Path) -> None:
    write(tmp_path, "[budget]\nsteps = 10\ntool_calls = 11\nseconds = 12\n")
    environ = {"QUAERE_BUDGET_STEPS": "20", "QUAERE_BUDGET_TOOL_CALLS": "21"}
    budget = load_settings(tmp_path, environ, {"budget.steps": 30}).budget
    assert (budget.steps, budget.tool_calls, budget.seconds) == (30, 21, 12)


def test_an_empty_variable_counts_as_unset(tmp_path: Path) -> None:
    write(tmp_path, "[budget]\nsteps = 10\n")
    assert load_settings(tmp_path, {"QUAERE_BUDGET_STEPS": ""}, {}).budget.steps == 10


def test_lists_are_written_as_toml_or_with_commas(tmp_path: Path) -> None:
    write(tmp_path, '[corpus]\ninclude = ["*.md", "a,b.txt"]\n')
    environ = {"QUAERE_CORPUS_EXCLUDE": "drafts/**, *.bak"}
    corpus = load_settings(tmp_path, environ, {}).corpus
    assert corpus.include == ("*.md", "a,b.txt")
    assert corpus.exclude == ("drafts/**", "*.bak")


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / "quaere.toml").write_bytes(b"\xef\xbb\xbf[budget]\r\nsteps = 9\r\n")
    assert load_settings(tmp_path, {}, {}).budget.steps == 9


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("budgte.steps", "budget.steps"),
        ("budget.step", "budget.steps"),
        ("search.fusionk", "search.fusion_k"),
        ("corpus.steps", "budget.steps"),
        ("encoder.modell", "encoder.model"),
        ("corpus.exlcude", "corpus.exclude"),
        ("threads", "encoder.threads"),
    ],
)
def test_a_misspelt_key_is_refused_with_the_nearest_right_one(tmp_path: Path, wrong: str, right: str) -> None:
    section, dot, name = wrong.rpartition(".")
    write(tmp_path, f"[{section}]\n{name} = 8\n" if dot else f"{name} = 8\n")
    assert refusal(tmp_path) == f"quaere.toml: unknown key {wrong!r}; did you mean {right!r}?"


def test_a_key_like_no_other_is_refused_with_all_keys(tmp_path: Path) -> None:
    message = refusal(write(tmp_path, "[qqq]\nzzz = 1\n"))
    assert message.startswith("quaere.toml: unknown key 'qqq.zzz'; known are ")
    assert all(key in message for key in KEYS)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("QUAERE_BUGDET_STEPS", "QUAERE_BUDGET_STEPS"),
        ("QUAERE_SEARCH_FUSION", "QUAERE_SEARCH_FUSION_K"),
        ("QUAERE_CASHE", "QUAERE_CACHE"),
    ],
)
def test_a_misspelt_variable_is_refused_with_the_nearest_right_one(
    tmp_path: Path, wrong: str, right: str
) -> None:
    message = refusal(tmp_path, {wrong: "8"})
    assert message == f"environment: unknown key {wrong!r}; did you mean {right!r}?"


def test_a_misspelt_flag_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, flags={"search.k": 1}).startswith("flags: unknown key 'search.k'; did you mean")


def test_variables_that_are_no_settings_are_let_through(tmp_path: Path) -> None:
    environ = {"QUAERE_CACHE": "/x", "QUAERE_DATA": "/y", "QUAERE_DEBUG": "1"}
    assert load_settings(tmp_path, environ, {}) == Settings()


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("[budget]\nsteps = 3", "budget.steps = 3 is refused; give a whole number from 7 to 1,000"),
        ("[budget]\nsteps = 8.5", "budget.steps = 8.5 is refused; give a whole number from 7 to 1,000"),
        ("[budget]\nsteps = true", "budget.steps = True is refused; give a whole number from 7 to 1,000"),
        (
            "[budget]\nseconds = nan",
            "budget.seconds = nan is refused; give a number above 0 and up to 86,400",
        ),
        ("[search]\nb = 1.5", "search.b = 1.5 is refused; give a number from 0 to 1"),
        ("[corpus]\ninclude = [1]", "corpus.include = [1] is refused; give a list of patterns"),
        ('[encoder]\nmodel = ""', "encoder.model = '' is refused; give a text that is not empty"),
    ],
)
def test_a_value_out_of_range_is_refused_with_the_range(tmp_path: Path, written: str, message: str) -> None:
    assert refusal(write(tmp_path, written)) == f"quaere.toml: {message}"


def test_a_refused_value_is_told_by_the_name_it_was_given_under(tmp_path: Path) -> None:
    message = refusal(tmp_path, {"QUAERE_ENCODER_THREADS": "many"})
    assert message == (
        "environment: QUAERE_ENCODER_THREADS = 'many' is refused; give a whole number from 1 to 64"
    )
    assert refusal(tmp_path, flags={"encoder.threads": 0}).startswith("flags: encoder.threads = 0 is refused")


def test_a_value_where_a_section_belongs_is_refused(tmp_path: Path) -> None:
    message = refusal(write(tmp_path, "budget = 3\n"))
    assert message == (
        "quaere.toml: 'budget' is a section, not a setting; set its keys, such as budget.steps"
    )


def test_a_file_that_is_no_toml_is_refused_in_one_sentence(tmp_path: Path) -> None:
    message = refusal(write(tmp_path, "steps == 3\n"))
    assert message.startswith("quaere.toml cannot be read: ")
    assert message.endswith("; correct it or move it away")
    assert "\n" not in message


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "quaere.toml").mkdir()
    assert refusal(tmp_path).startswith("quaere.toml cannot be read: ")


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        Settings().budget.steps = 8  # type: ignore[misc]


TABLES = """
[[rules]]
labels = {class = "open"}

[[rules]]
source = "handbook"
path = "hr/**"
labels = {class = "closed", team = "hr"}
front_matter = true
valid_from = 2024-01-01
valid_until = "2024-12-31"
superseded_by = "travel_2024.md"

[people.alice]
groups = ["sales", "all"]
allowed = {team = ["hr"], class = ["closed"]}

[groups.sales]
allowed = {class = ["open"], team = ["sales"]}

[groups.all]
"""


def test_rules_people_and_groups_are_read_from_their_tables(tmp_path: Path) -> None:
    found = load_settings(write(tmp_path, TABLES), {}, {})
    assert found.rulebook == Rulebook(
        (
            Rule(labels={"class": "open"}),
            Rule(
                "handbook",
                "hr/**",
                {"class": "closed", "team": "hr"},
                True,
                Validity("2024-01-01", "2024-12-31", "travel_2024.md"),
            ),
        )
    )
    assert found.access_of("alice") == Access(
        "alice",
        frozenset({"sales", "all"}),
        {"team": frozenset({"hr", "sales"}), "class": frozenset({"open", "closed"})},
    )
    assert found.access_of("owner") == OWNER


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ('[[rules]]\nlables = {a = "b"}', "rule 1: unknown key 'lables'; did you mean 'labels'?"),
        ("[[rules]]\n[[rules]]\nqqq = 1", "rule 2: unknown key 'qqq'; known are source, path, labels"),
        ("[people.ana]\ngruops = []", "people.ana: unknown key 'gruops'; did you mean 'groups'?"),
        ("[[rule]]\nlabels = {}", "unknown key 'rule'; did you mean [[rules]]?"),
        ("[poeple.ana]\ngroups = []", "unknown key 'poeple.ana'; did you mean [people.NAME]?"),
        ("rules = 3", "'rules' is no table; write [[rules]]"),
        ("[rules]\nsource = 'x'", "'rules' is no table; write [[rules]]"),
        ("rules = [3]", "rule 1 is no table; write [[rules]]"),
        ("[people]\nana = 3", "'people.ana' is no table; write [people.NAME]"),
        ("[[rules]]\nlabels = {a = 3}", "rule 1: labels.a = 3 is refused; give a table of texts"),
        ('[[rules]]\nlabels = {a = " "}', "rule 1: labels.a = ' ' is refused; give a table of texts"),
        ('[[rules]]\npath = "/"', "rule 1: path = '/' is refused; give a pattern"),
        ('[[rules]]\nfront_matter = "yes"', "rule 1: front_matter = 'yes' is refused; give true or false"),
        (
            '[[rules]]\nvalid_from = "2023-02-29"',
            "rule 1: valid_from = '2023-02-29' is refused; give a date, such as 2024-01-31",
        ),
        ('[[rules]]\nvalid_from = "20240101"', "rule 1: valid_from = '20240101' is refused"),
        ("[[rules]]\nvalid_until = 2024-01-01T10:00:00", "rule 1: valid_until = 2024-01-01T10:00:00 is"),
        (
            "[[rules]]\nvalid_from = 2024-02-01\nvalid_until = 2024-01-01",
            "rule 1: valid_until 2024-01-01 lies before valid_from 2024-02-01; give a later day",
        ),
        ('[people.ana]\ngroups = "sales"', "people.ana: groups = 'sales' is refused; give a list of names"),
        (
            '[people.ana]\nallowed = {a = "b"}',
            "people.ana: allowed.a = 'b' is refused; give a table of lists",
        ),
        (
            '[people.ana]\ngroups = ["salse"]\n[groups.sales]',
            "people.ana: there is no group 'salse'; did you mean 'sales'?",
        ),
        ("[people.Owner]", "people.Owner: the owner reads everything and has no table; choose another name"),
        ('[people.""]', "people: a name is empty; write [people.NAME]"),
    ],
)
def test_a_table_that_cannot_be_is_refused_in_one_sentence(
    tmp_path: Path, written: str, message: str
) -> None:
    said = refusal(write(tmp_path, written))
    assert said.startswith(f"quaere.toml: {message}")
    assert "\n" not in said


@pytest.mark.parametrize("name", ["rules", "people.ana", "groups"])
def test_tables_stand_in_the_file_alone(tmp_path: Path, name: str) -> None:
    variable = f"QUAERE_{name.replace('.', '_').upper()}"
    assert refusal(tmp_path, {variable: "x"}).endswith(" in quaere.toml")
    assert refusal(tmp_path, flags={name: {}}).endswith(" in quaere.toml")


@given(st.integers(7, 1000), st.sampled_from(["file", "environment", "flags"]))
def test_a_value_in_range_means_the_same_wherever_it_is_given(
    tmp_path_factory: pytest.TempPathFactory, steps: int, place: str
) -> None:
    folder = tmp_path_factory.mktemp("settings")
    if place == "file":
        write(folder, f"[budget]\nsteps = {steps}\n")
    environ = {"QUAERE_BUDGET_STEPS": str(steps)} if place == "environment" else {}
    flags: dict[str, object] = {"budget.steps": steps} if place == "flags" else {}
    assert load_settings(folder, environ, flags).budget.steps == steps


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=200))
def test_whatever_the_file_holds_ends_in_settings_or_in_a_refusal(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    folder = write(tmp_path_factory.mktemp("settings"), text)
    with contextlib.suppress(SettingsError):
        assert isinstance(load_settings(folder, {}, {}), Settings)


def test_an_agent_reads_the_file_beside_its_index_from_a_folder_below(tmp_path: Path) -> None:
    write(tmp_path, "[budget]\nsteps = 9\n")
    (tmp_path / ".quaere").mkdir()
    below = tmp_path / "notes" / "old"
    below.mkdir(parents=True)
    with Agent.open(below) as agent:
        assert agent.settings.budget.steps == 9


def test_every_setting_has_a_meaning_and_a_default_in_its_range() -> None:
    for setting in known_settings():
        assert setting.field.description
    assert Settings.model_validate(Settings().model_dump()) == Settings()


def test_the_page_of_settings_is_current() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `python -m quaere.agent.settings_page > docs/settings.md`"


@pytest.mark.parametrize("key", KEYS)
def test_every_setting_stands_on_the_page(key: str) -> None:
    assert f"| `{key}` |" in page()
