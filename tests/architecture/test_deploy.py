"""What a deployer copies and reads names every setting there is, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.settings import Settings

ROOT = Path(__file__).parents[2]
SETTINGS = {name.upper() for name in Settings.model_fields}
OF_COMPOSE = {"OWNER_PASSWORD"}


def example():
    lines = (ROOT / "deploy" / "env.example").read_text(encoding="utf-8").splitlines()
    found = [match for line in lines if (match := re.fullmatch(r"#?([A-Z_]+)=(.*)", line))]
    return [match[1] for match in found], {match[1]: match[2] for match in found}


def documented():
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Settings")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`([A-Z_]+)`", row)]


@pytest.mark.parametrize(
    ("names", "others"), [(example()[0], OF_COMPOSE), (documented(), set())], ids=["env.example", "README.md"]
)
def test_each_setting_is_named_once_and_nothing_else_is(names, others):
    assert sorted(names) == sorted(SETTINGS | others)


def test_the_example_as_it_stands_is_valid(monkeypatch):
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    for name, value in example()[1].items():
        monkeypatch.setenv(name, value)
    given = Settings()
    assert given.url == "https://context.example.com"
    assert given.trusted_proxies == ["172.16.0.0/12"]


def test_a_line_of_the_example_without_a_value_is_the_default(monkeypatch):
    values = example()[1]
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    for name in SETTINGS & values.keys():
        monkeypatch.setenv(name, "")
    assert Settings() == Settings.model_validate({})


def test_numbers_and_choices_of_the_example_are_the_defaults():
    shown = {"EMBEDDINGS_DIMENSIONS"}  # of the model that is shown
    for name, value in example()[1].items():
        default = getattr(Settings.model_fields.get(name.lower()), "default", None)
        if isinstance(default, int | float) and value and name not in shown:
            assert Settings.model_validate({name.lower(): value}).model_dump()[name.lower()] == default, name


def test_what_the_image_is_made_of_is_what_its_context_holds():
    folder = ROOT / "deploy"
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (folder / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    held = (folder / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    wanted = {name for line in copied for name in line.split()}
    assert wanted == {line[1:] for line in held if line.startswith("!")}
    assert all((ROOT / name).exists() for name in wanted)
