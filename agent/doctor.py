"""The doctor: look at what quaere stands on and at every store of a workspace, and show what was found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .show import count
from .terminal import Paper, clean

if TYPE_CHECKING:
    from ..tools.answer import Json
    from ..tools.checkup import Checkup
    from .settings import Settings


def examine(home: Path, settings: Settings, repair: bool = False) -> Checkup:
    """Return what is found around and in a `.quaere` folder, after a repair if one is asked for.

    It works where the index cannot be opened at all; UsageError where a repair cannot write.
    """
    from ..tools import checkup
    from ..tools.checks import warning
    from ..tools.surroundings import check_surroundings

    around, encoder = check_surroundings(settings.encoder.model, settings.encoder.threads)
    if not home.exists():
        return checkup.Checkup({**around, "index": warning("there is none yet", "run `quaere add FOLDER`")})
    found = (checkup.repair if repair else checkup.check)(home, encoder)
    return checkup.Checkup({**around, **found.findings}, found.repaired)


def show_checkup(checkup: Checkup, paper: Paper) -> str:
    """Return what was repaired, one line a check with its way out below, and how many are well."""
    width = max(len(name) for name in checkup.findings)
    lines = [paper.wrap(f"repaired {clean(said)}", "", "    ") for said in checkup.repaired]
    for name, finding in checkup.findings.items():
        head = f"{finding.state:<8} {name:<{width}}  "
        lines.append(paper.wrap(head + clean(finding.found), "", " " * len(head)))
        if finding.way_out:
            lines.append(paper.wrap(f"→ {clean(finding.way_out)}", " " * len(head)))
    return "\n".join([*lines, _sum(checkup)]) + "\n"


def checkup_json(checkup: Checkup) -> Json:
    """Return the checks in order, what was repaired, and whether none failed."""
    checks = [
        {"name": name, "state": one.state, "found": one.found, "way_out": one.way_out}
        for name, one in checkup.findings.items()
    ]
    return {"sound": checkup.is_sound, "checks": checks, "repaired": list(checkup.repaired)}


def _sum(checkup: Checkup) -> str:
    states = [finding.state for finding in checkup.findings.values()]
    told = [f"{states.count('ok')} ok", count(states.count("warning"), "warning")]
    return f"{count(len(states), 'check')}: {', '.join(told)}, {states.count('failed')} failed"
