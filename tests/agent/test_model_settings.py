"""Settings of the model: names by role, address, prices, sources that stay here, variables of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from quaere.agent.endpoint import DEFAULT_MODEL, endpoint_of, kept_here, tariff_of
from quaere.agent.model_settings import ModelSettings, PriceSettings
from quaere.agent.settings import Settings, load_settings
from quaere.graphs.budget import Price
from quaere.tools.errors import SettingsError


def load(folder: Path, text: str = "", **environ: str) -> Settings:
    (folder / "quaere.toml").write_text(text, "utf-8")
    return load_settings(folder, environ, {})


def refusal(folder: Path, text: str = "", **environ: str) -> str:
    with pytest.raises(SettingsError) as caught:
        load(folder, text, **environ)
    return str(caught.value)


def test_the_variables_of_other_tools_set_name_and_address(tmp_path: Path) -> None:
    model = load(tmp_path, QUAERE_MODEL="m", OPENAI_BASE_URL="http://127.0.0.1:1/v1/").model
    assert (model.name, model.base_url) == ("m", "http://127.0.0.1:1/v1")


def test_the_environment_goes_before_the_file(tmp_path: Path) -> None:
    text = '[model]\nname = "file"\nbase_url = "http://file/v1"\nwriter = "w"\n'
    model = load(tmp_path, text, QUAERE_MODEL="shell").model
    assert (model.name, model.base_url, model.named("writer"), model.named("judge")) == (
        "shell",
        "http://file/v1",
        "w",
        "shell",
    )
    assert load(tmp_path, text, QUAERE_MODEL="").model.name == "file"


def test_the_spelled_out_variable_goes_before_the_short_one(tmp_path: Path) -> None:
    assert load(tmp_path, QUAERE_MODEL="short", QUAERE_MODEL_NAME="long").model.name == "long"


def test_a_key_alone_means_openai_and_its_model_of_every_role(tmp_path: Path) -> None:
    endpoint = endpoint_of(load(tmp_path).model, {"OPENAI_API_KEY": "sk-x"})
    assert endpoint.base_url == "https://api.openai.com/v1"
    assert set(endpoint.names.values()) == {DEFAULT_MODEL}
    assert not endpoint.local


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1:8080", "ftp://h/v1", "http://", "http://h:99999/v1", "http://h/v1?x=1", "http://h:x/v1"],
)
def test_an_address_that_is_none_is_refused_by_the_name_it_was_given_under(
    tmp_path: Path, address: str
) -> None:
    assert refusal(tmp_path, OPENAI_BASE_URL=address) == (
        f"environment: OPENAI_BASE_URL = {address!r} is refused; give an address such as http://127.0.0.1:8080/v1"
    )


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            "request_seconds = 0",
            "model.request_seconds = 0 is refused; give a number above 0 and up to 3,600",
        ),
        ("attempts = 11", "model.attempts = 11 is refused; give a whole number from 1 to 10"),
        ('name = ""', "model.name = '' is refused; give a text that is not empty"),
        ('api_key = "sk-x"', "unknown key 'model.api_key'; did you mean"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(tmp_path: Path, written: str, message: str) -> None:
    assert refusal(tmp_path, f"[model]\n{written}\n").startswith(f"quaere.toml: {message}")


def test_a_misspelt_variable_is_refused_with_the_right_one(tmp_path: Path) -> None:
    assert refusal(tmp_path, QUAERE_MODL="m").endswith("did you mean 'QUAERE_MODEL'?")


def test_sources_that_stay_here_are_named_by_patterns(tmp_path: Path) -> None:
    model = load(tmp_path, '[model]\nlocal = ["hand*", "salaries"]\n').model
    assert [model.keeps_here(name) for name in ("handbook", "salaries", "news")] == [True, True, False]
    assert not load(tmp_path).model.keeps_here("handbook")


def test_only_a_model_elsewhere_is_kept_from_what_stays_here() -> None:
    settings = ModelSettings(local=("hand*",), base_url="http://h.example/v1")
    here = ModelSettings(local=("hand*",), base_url="http://127.0.0.1:1/v1")
    sources = ["handbook", "news"]
    assert kept_here(settings, endpoint_of(settings, {}), sources) == {"handbook"}
    assert kept_here(here, endpoint_of(here, {}), sources) == frozenset()


def test_the_tariff_names_the_price_of_each_role() -> None:
    settings = ModelSettings(base_url="http://h/v1", name="small", writer="big")
    prices = {"small": PriceSettings(prompt=1, completion=2), "big": PriceSettings(prompt=10, completion=20)}
    tariff = tariff_of(endpoint_of(settings, {}), prices)
    assert (tariff.price("writer"), tariff.price("judge")) == (Price(10, 20), Price(1, 2))
    assert tariff_of(endpoint_of(settings, {}), {}).price("writer") is None


def test_prices_stand_by_the_name_of_the_model(tmp_path: Path) -> None:
    prices = load(tmp_path, '[prices."gpt-4.1-mini"]\nprompt = 0.4\ncompletion = 1.6\n').prices
    assert (prices["gpt-4.1-mini"].prompt, prices["gpt-4.1-mini"].completion) == (0.4, 1.6)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("prompt = -1\ncompletion = 1", "prices.m: prompt = -1 is refused; give a price in USD"),
        ("prompt = true\ncompletion = 1", "prices.m: prompt = True is refused; give a price in USD"),
        (
            "prompt = 1\ncompletion = 1\ncomplete = 2",
            "prices.m: unknown key 'complete'; did you mean 'completion'?",
        ),
        ("prompt = 1", "prices.m: completion is missing; give a price in USD"),
    ],
)
def test_a_price_that_is_none_is_refused(tmp_path: Path, written: str, message: str) -> None:
    assert refusal(tmp_path, f"[prices.m]\n{written}\n").startswith(f"quaere.toml: {message}")
