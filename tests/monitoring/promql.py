"""Which metrics and labels a PromQL expression uses. No parser: promtool checks the grammar."""

import dataclasses
import re

GROUPING = {"by", "without", "on", "ignoring", "group_left", "group_right"}
WORDS = {"and", "or", "unless", "bool", "offset", "inf", "nan"}
TEXT = r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'"""
TOKEN = re.compile(rf"""
    (?P<text>{TEXT})
  | (?P<range>\[[^\]]*\])
  | (?P<matchers>\{{(?:[^}}"']|{TEXT})*\}})
  | (?P<number>\d[\w.]*)
  | (?P<name>[a-zA-Z_:][\w:]*)
  | (?P<other>\S)""", re.X)
MATCHER = re.compile(rf"(\w+)\s*(=~|!~|!=|=)\s*({TEXT})")


@dataclasses.dataclass(frozen=True)
class Selector:
    """A metric, and what is asked of its labels: (label, operator, value)."""

    name: str  # empty in `{__name__=~"..."}`
    matchers: tuple


@dataclasses.dataclass
class Used:
    """What an expression is made of."""

    selectors: list
    labels: dict  # "by", "without" and so on -> the labels in the brackets behind it


def selector(name, matchers):
    return Selector(name, tuple((label, operator, value[1:-1])
                                for label, operator, value in MATCHER.findall(matchers)))


def used(expression):
    found = Used([], {word: set() for word in GROUPING})
    tokens = [(match.lastgroup, match.group()) for match in TOKEN.finditer(expression)]
    tokens.append(("", ""))
    at = 0
    while at < len(tokens) - 1:
        kind, text = tokens[at]
        next_kind, next_text = tokens[at + 1]
        at += 1
        if kind == "matchers":
            found.selectors.append(selector("", text))
        elif kind != "name" or text in WORDS:
            continue
        elif text in GROUPING:
            end = tokens.index(("other", ")"), at) if next_text == "(" else at
            found.labels[text] |= {name for kind, name in tokens[at:end] if kind == "name"}
            at = end
        elif next_kind == "matchers":
            found.selectors.append(selector(text, next_text))
            at += 1
        elif next_text != "(" and next_text not in GROUPING:  # otherwise a function
            found.selectors.append(selector(text, ""))
    return found
