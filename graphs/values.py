"""The values in a sentence in one form: `EUR 80` is `80 euros`, `24 hours` are `1 day`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from ..tools.analyze import stem
from ..tools.dates import YEAR, find_dates
from ..tools.stopwords import STOPWORDS

Kind = Literal["money", "percent", "duration", "date", "time", "version", "phone", "number"]

_CURRENCIES = {
    "EUR": "€|eur|euros?",
    "USD": r"us\$|\$|usd|dollars?",
    "GBP": "£|gbp|pounds?",
    "CHF": r"chf|sfr\.?|francs?",
    "JPY": "¥|jpy|yen",
    "SEK": "sek",
    "NOK": "nok",
    "DKK": "dkk",
    "PLN": "pln|zł",
    "CZK": "czk",
    "INR": "₹|inr|rupees?",
    "CNY": "cny|rmb|yuan",
    "CAD": "cad",
    "AUD": "aud",
}
_CURRENCY = "|".join(_CURRENCIES.values())
_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "dozen": 12, "fifteen": 15, "twenty": 20, "thirty": 30,
    "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100,
}  # fmt: skip
_SCALES = {"thousand": 10**3, "k": 10**3, "million": 10**6, "billion": 10**9}
_UNITS: dict[str, tuple[str, int | Decimal]] = {
    "second": ("second", 1), "sec": ("second", 1), "minute": ("second", 60), "min": ("second", 60),
    "hour": ("second", 3600), "day": ("second", 86400), "night": ("night", 1), "week": ("second", 604800),
    "fortnight": ("second", 1209600), "month": ("month", 1), "quarter": ("month", 3), "year": ("month", 12),
    "decade": ("month", 120), "century": ("month", 1200), "millisecond": ("second", Decimal("0.001")),
    "ms": ("second", Decimal("0.001")),
}  # fmt: skip
_AMOUNT = (
    rf"(?:(?<![\w.,])\d+(?:[.,]\d+)*|\b(?:{'|'.join(_WORDS)})\b)"
    r"(?:[ ]?(?:thousand|million|billion)\b|k\b)?"
)
_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True)).replace("century", "centur(?:y|ies)")
_PATTERNS: tuple[tuple[Kind, str], ...] = (
    (
        "time",
        r"\b(?P<h>[01]?\d|2[0-3])[:.](?P<m>[0-5]\d)(?:[ ]?(?P<half>[ap])\.?m\b\.?|[ ]?(?:h|o'clock)\b)?"
        r"(?!\d|\.\d)(?<!\d\.\d\d)",
    ),
    ("time", r"\b(?P<h>1[0-2]|0?[1-9])[ ]?(?P<half>[ap])\.?m\b\.?"),
    ("phone", r"(?<![\w.,])(?:\+|0)\d[\d ()/-]{5,}\d(?!\w)"),
    (
        "version",
        r"\b(?:versions?|releases?|v\.?)[ ]?(?P<version>\d+(?:\.\d+)*)"
        r"|(?<![\w.])(?P<dotted>\d+(?:\.\d+){2,})",
    ),
    ("money", rf"(?P<a>{_AMOUNT})[ ]?(?P<behind>{_CURRENCY})(?!\w)"),
    ("money", rf"(?<!\w)(?P<before>{_CURRENCY})[ ]?(?P<a>{_AMOUNT})"),
    ("percent", rf"(?P<a>{_AMOUNT})[ ]?(?:%|per ?cent\b|percent\b)"),
    (
        "duration",
        rf"(?P<a>{_AMOUNT})[ -]?(?P<how>(?:working|business|calendar|full)[ -])?(?P<unit>{_UNIT})s?\b",
    ),
    ("date", rf"\b(?:in|since|from|until|by|of|year)[ ](?P<year>{YEAR})\b"),
    ("number", rf"(?!one\b)(?P<a>{_AMOUNT})(?:[ ]?(?P<unit>°[CF]?|[A-Za-z][A-Za-z/]*))?"),
)
_COMPILED = tuple((kind, re.compile(pattern, re.I)) for kind, pattern in _PATTERNS)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Value:
    """One value: its kind, its unit in one form, its amount in one form, and where it stands."""

    kind: Kind
    unit: str
    amount: str
    start: int
    end: int

    @property
    def key(self) -> tuple[str, str, str]:
        """Return what makes two values the same."""
        return self.kind, self.unit, self.amount


@lru_cache(maxsize=2048)
def read_values(text: str) -> tuple[Value, ...]:
    """Return the values of a text in order; a stretch is read once, by the most telling kind."""
    taken: list[Value] = []
    for value in _candidates(text):
        if not any(value.start < other.end and other.start < value.end for other in taken):
            taken.append(value)
    return tuple(sorted(taken, key=lambda value: value.start))


def _candidates(text: str) -> Iterator[Value]:
    for found in find_dates(text):
        days = found.days
        yield Value("date", "day", f"{days.first}/{days.last}", found.start, found.end)
    for kind, pattern in _COMPILED:
        for match in pattern.finditer(text):
            unit, amount = _READERS[kind](match)
            yield Value(kind, unit, amount, match.start(), match.end())


def _time(match: re.Match[str]) -> tuple[str, str]:
    groups = match.groupdict()
    hour, half = int(groups["h"]), (groups["half"] or "").casefold()
    hour = hour % 12 + 12 * (half == "p") if half else hour
    return "", f"{hour:02}:{int(groups.get('m') or 0):02}"


def _money(match: re.Match[str]) -> tuple[str, str]:
    groups = match.groupdict()
    sign = groups.get("before") or groups.get("behind") or ""
    name = next(name for name, pattern in _CURRENCIES.items() if re.fullmatch(pattern, sign, re.I))
    return name, _amount(match["a"])


def _duration(match: re.Match[str]) -> tuple[str, str]:
    unit = re.sub(r"centur.*", "century", match["unit"].casefold())
    name, factor = _UNITS[unit]
    how = (match["how"] or "").strip(" -").casefold()
    if how in ("working", "business"):
        return f"working {unit}", _amount(match["a"])
    return name, _plain(Decimal(_amount(match["a"])) * factor)


def _number(match: re.Match[str]) -> tuple[str, str]:
    unit = (match["unit"] or "").casefold()
    return "" if unit in STOPWORDS else stem(unit), _amount(match["a"])


def _amount(written: str) -> str:
    """Return a number without signs of thousands, words as digits, scales multiplied."""
    folded = written.casefold()
    scale = next((factor for word, factor in _SCALES.items() if folded.endswith(word)), 1)
    bare = re.sub(r"[ ]?(?:thousand|million|billion|k)$", "", folded).strip()
    if bare in _WORDS:
        return _plain(Decimal(_WORDS[bare]) * scale)
    bare = bare.replace(",", "") if _THOUSANDS.fullmatch(bare) else bare
    whole, _, rest = bare.replace(",", ".").partition(".")
    return _plain(Decimal(f"{whole}.{rest.replace('.', '') or 0}") * scale)


def _plain(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


_READERS: dict[Kind, Callable[[re.Match[str]], tuple[str, str]]] = {
    "time": _time,
    "phone": lambda match: ("", re.sub(r"\D", "", match.group(0))),
    "version": lambda match: ("", match["version"] or match["dotted"]),
    "money": _money,
    "percent": lambda match: ("%", _amount(match["a"])),
    "duration": _duration,
    "date": lambda match: ("day", f"{match['year']}-01-01/{match['year']}-12-31"),
    "number": _number,
}
