"""What the user's own words answer: greetings, questions about the conversation, arithmetic."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Sequence

from ..tools.analyze import identifiers
from .policy import Draft, Reply, Turn

_GREETING = re.compile(
    r"(?:hi|hello|hey|hallo|good (?:morning|afternoon|evening|day)|greetings|howdy)"
    r"(?: there| all| quaere)?[!., ]*"
    r"(?:how are you(?: today| doing)?\??)?",
    re.I,
)
_THANKS = re.compile(
    r"(?:many thanks|thanks?(?: you)?|thank you|cheers|great|perfect|ok(?:ay)?|bye|goodbye|see you|no thanks)"
    r"(?:[, ]+(?:a lot|so much|very much|for (?:the|your) help|thanks|thank you|that helps?|again|bye))*"
    r"[!., ]*",
    re.I,
)
_ORDINALS = {"first": 0, "second": 1, "third": 2, "last": -1, "previous": -1, "latest": -1}
_ASKED = re.compile(
    r"\b(?:what|which|repeat|tell me|show)\b.*?\b(?P<which>first|second|third|last|previous|latest)\b.*"
    r"\b(?:question|thing|message)\b.*|"
    r"\bwhat (?:did|have|had) i (?:just |already |first |last )?(?:ask|asked|say|said|want|wanted)\b.*|"
    r"\b(?:repeat|list|show)\b.*\bmy (?:questions?|first question|last question)\b.*",
    re.I,
)
_ABOUT_ME = re.compile(r"\b(?:i|my|me)\b", re.I)
_TASK = re.compile(
    r"^(?:please )?(?:write|compose|draft|translate|rewrite|rephrase|paraphrase|proofread|correct|brainstorm|"
    r"imagine|invent|generate|create|suggest|give me (?:some |a few |\d+ )?(?:ideas|names|tips|titles))\b",
    re.I,
)
_EXPRESSION = re.compile(r"[\d.,()\s+\-*/x×÷%^]+")
_WORDED = re.compile(
    r"^(?:what(?:'s| is| are)|how much (?:is|are)|calculate|compute|evaluate|add up)?\s*(?P<body>.*?)"
    r"\s*(?:=|equals?)?\s*[?.!]*$",
    re.I,
)
_NUMBER = r"(\d[\d,]*(?:\.\d+)?)"
_SPOKEN: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"^{_NUMBER}\s*(?:%|percent) of {_NUMBER}$", re.I), "{0} * {1} / 100"),
    (re.compile(rf"^the sum of {_NUMBER} and {_NUMBER}$", re.I), "{0} + {1}"),
    (re.compile(rf"^add {_NUMBER} (?:and|to) {_NUMBER}$", re.I), "{0} + {1}"),
    (
        re.compile(rf"^(?:the product of {_NUMBER} and|multiply {_NUMBER} (?:by|with|and)) {_NUMBER}$", re.I),
        "{0} * {1}",
    ),
    (re.compile(rf"^divide {_NUMBER} by {_NUMBER}$", re.I), "{0} / {1}"),
    (re.compile(rf"^subtract {_NUMBER} from {_NUMBER}$", re.I), "{1} - {0}"),
    (re.compile(rf"^{_NUMBER} plus {_NUMBER}$", re.I), "{0} + {1}"),
    (re.compile(rf"^{_NUMBER} minus {_NUMBER}$", re.I), "{0} - {1}"),
    (re.compile(rf"^{_NUMBER} (?:times|multiplied by) {_NUMBER}$", re.I), "{0} * {1}"),
    (re.compile(rf"^{_NUMBER} divided by {_NUMBER}$", re.I), "{0} / {1}"),
)
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
MOST_POWER = 64
"""Largest exponent that is computed; a longer number answers nothing and costs time."""


def reply_kind(question: str, turns: Sequence[Turn]) -> Reply:
    """Return what kind of reply the user's words alone call for, or "" when sources must be searched."""
    text = question.strip()
    if not any(character.isalnum() for character in text):
        return "empty"
    if _GREETING.fullmatch(text):
        return "greeting"
    if _THANKS.fullmatch(text):
        return "thanks"
    if turns and _ABOUT_ME.search(text) and _ASKED.search(text):
        return "conversation"
    if read_arithmetic(text):
        return "arithmetic"
    if _TASK.match(text) and not identifiers(text):
        return "task"
    return ""


def answer_from_words(question: str, words: Sequence[str], reply: Reply) -> tuple[Draft, ...]:
    """Write the claims the user's own words carry; `words` are `S0.1` … with the present question last."""
    if reply == "conversation":
        return _recall(question, words)
    if reply == "arithmetic":
        return _calculate(question, len(words))
    return ()


def _recall(question: str, words: Sequence[str]) -> tuple[Draft, ...]:
    """Quote the earlier question that is asked for."""
    earlier = words[:-1]
    if re.search(r"\b(?:all|list|every)\b|\bmy questions\b", question, re.I):
        return tuple(Draft(f"You asked: “{text}”", (f"S0.{i}",)) for i, text in enumerate(earlier, 1))
    which = re.search(r"\b(first|second|third|last|previous|latest)\b", question, re.I)
    word = which[1].casefold() if which else "last"
    place = _ORDINALS[word]
    if not -len(earlier) <= place < len(earlier):
        return ()
    number = place % len(earlier) + 1
    named = "last" if word in ("previous", "latest") else word
    return (Draft(f"Your {named} question was: “{earlier[number - 1]}”", (f"S0.{number}",)),)


def _calculate(question: str, number: int) -> tuple[Draft, ...]:
    """State the result of the expression in the question as a computed claim."""
    formula = read_arithmetic(question)
    value = evaluate(formula) if formula else None
    if value is None:
        return ()
    return (
        Draft(f"{formula} = {format_number(value)}", (f"S0.{number}",), kind="computed", formula=formula),
    )


def read_arithmetic(text: str) -> str | None:
    """Return the expression a question asks to compute, in Python's signs, or None."""
    match = _WORDED.match(text.strip())
    body = match["body"] if match else ""
    for pattern, form in _SPOKEN:
        spoken = pattern.match(body)
        if spoken:
            return form.format(*(number.replace(",", "") for number in spoken.groups() if number))
    if not body or not _EXPRESSION.fullmatch(body) or len(re.findall(r"\d[\d,.]*", body)) < 2:
        return None
    signs = body.replace(",", "").replace("×", "*").replace("÷", "/").replace("^", "**")
    formula = re.sub(r"(?<=[\d\s)])x(?=[\d\s(])", "*", signs).strip()
    return formula if evaluate(formula) is not None else None


def evaluate(formula: str) -> float | None:
    """Evaluate + - * / ** and brackets over numbers; None when the formula is anything else."""
    if len(formula) > 200:
        return None
    try:
        return _value(ast.parse(formula, mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            base, other = _value(left), _value(right)
            if isinstance(sign, ast.Pow) and abs(other) > MOST_POWER:
                raise OverflowError
            return _OPERATORS[type(sign)](base, other)
        case _:
            raise ValueError("not arithmetic")


def format_number(value: float) -> str:
    """Return a number without a needless fraction, rounded to 10 significant digits."""
    if isinstance(value, int):
        return str(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.10g}"
