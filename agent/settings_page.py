"""Write docs/settings.md from the settings: `python -m quaere.agent.settings_page > docs/settings.md`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import groupby

from pydantic import BaseModel

from .access_settings import ALLOWED, GroupSettings, PersonSettings, RuleSettings, table_fields
from .model_settings import PriceSettings
from .settings import OTHER_VARIABLES, Setting, known_settings

INTRODUCTION = """\
# Settings

This page is made by `python -m quaere.agent.settings_page > docs/settings.md`; a test keeps it current.

A setting may be given in four places. The first that names it counts:

1. a flag: `--set budget.steps=12`, or `--budget steps=12` for the limits of a question;
2. the environment: `QUAERE_BUDGET_STEPS=12`; an empty variable counts as unset;
3. `quaere.toml` in the folder that holds `.quaere`:

   ```toml
   [budget]
   steps = 12
   ```

4. the default.

In Python, `Agent.open(path, overrides={"budget.steps": 12})` stands for flags. A list may be written
with commas where there is no TOML: `QUAERE_CORPUS_EXCLUDE='drafts/**,*.bak'`. A key that does not exist
and a value out of range are refused with the nearest right key or the allowed range, and nothing runs.
Patterns are those of `.gitignore` in short: `*` stays inside a folder, `**` crosses folders, a pattern
without a slash is looked for at any depth, and a folder stands for all below it.
"""

SECTION = """
## [{name}]

{purpose}

| key | default | allowed | meaning |
|---|---|---|---|
"""


WHO_READS_WHAT = """
## Who may read what

Three kinds of tables stand in `quaere.toml` alone; no flag and no variable gives them:

```toml
[[rules]]
labels = {class = "open"}

[[rules]]
source = "handbook"
path = "hr/**"
labels = {class = "closed", team = "hr"}

[people.alice]
groups = ["sales"]
allowed = {team = ["hr"], class = ["closed"]}

[groups.sales]
allowed = {class = ["open"]}
```

Every document gets the labels of all rules that fit its source and path. `quaere ask --as alice` then reads
the documents whose labels are all allowed: each key must be there, with the document's value. A document
without labels is read by the owner alone. A changed rule holds from the next question on, without a sync.
A rule that fits no source or no document is told by the next sync.
"""

WHAT_A_MODEL_COSTS = """
## What a model costs

```toml
[prices."gpt-4.1-mini"]
prompt = 0.4
completion = 1.6
```

`budget.usd` needs the price of every model that may run. Such a table stands in `quaere.toml` alone.
"""

ACCESS_TABLE = """
### {written}

{purpose}

| key | allowed | meaning |
|---|---|---|
"""


def page() -> str:
    """Return the page: how settings are given, a table for each section, the other variables."""
    sections = groupby(known_settings(), lambda one: one.key.partition(".")[0])
    tables = [_table(name, list(members)) for name, members in sections]
    access = [WHO_READS_WHAT, *_tables_of(RuleSettings, PersonSettings, GroupSettings)]
    prices = [WHAT_A_MODEL_COSTS, *_tables_of(PriceSettings)]
    return "".join([INTRODUCTION, *tables, *access, *prices, _other_variables()])


def _table(name: str, settings: list[Setting]) -> str:
    purpose = (settings[0].section.__doc__ or "").strip()
    return SECTION.format(name=name, purpose=purpose) + "".join(map(_row, settings))


def _row(setting: Setting) -> str:
    default = setting.field.default
    written = "unset" if default is None else f"`{json.dumps(default)}`"
    return f"| `{setting.key}` | {written} | {setting.allowed} | {setting.field.description} |\n"


def _tables_of(*records: type[BaseModel]) -> Iterator[str]:
    for written, record, fields in table_fields():
        if record not in records:
            continue
        purpose = (record.__doc__ or "").strip()
        rows = (f"| `{key}` | {ALLOWED[key]} | {field.description} |\n" for key, field in fields.items())
        yield ACCESS_TABLE.format(written=written, purpose=purpose) + "".join(rows)


def _other_variables() -> str:
    rows = "".join(f"| `{name}` | {purpose} |\n" for name, purpose in OTHER_VARIABLES.items())
    return f"\n## Other variables\n\n| variable | meaning |\n|---|---|\n{rows}"


if __name__ == "__main__":
    sys.stdout.write(page())
