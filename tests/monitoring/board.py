"""What is wrong with the board: names, variables, places, and what it does not show."""

import itertools
import json
import re

import expressions

# What every Grafana has. A plugin would have to be installed.
PANELS = {"row", "stat", "timeseries", "table", "state-timeline"}
VARIABLES = {"datasource", "job", "server", "election"}
OF_GRAFANA = {"__rate_interval", "__range", "__all"}
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}


def complaints(metrics, text):
    board = json.loads(text)
    variables = {one["name"]: one for one in board["templating"]["list"]}
    if variables.keys() != VARIABLES:
        yield f"its variables are {sorted(variables)}"
    for name in sorted(set(re.findall(r"\$\{?(\w+)", text)) - variables.keys() - OF_GRAFANA):
        yield f"`${name}` is no variable"
    shown = set()
    for panel in board["panels"]:
        shown |= {name for one in expressions_of(panel) for name in metrics.families_in(one)}
        yield from (f"{panel['title']}: {one}" for one in of_panel(metrics, panel))
    yield from (f"variable {name}: {one}" for name, variable in variables.items()
                for one in of_variable(metrics, variable))
    yield from (f"{name} is shown nowhere" for name in sorted(metrics.families.keys() - shown))
    yield from misplaced(board["panels"])


def expressions_of(panel):
    return [target["expr"] for target in panel.get("targets", [])]


def of_panel(metrics, panel):
    if panel["type"] not in PANELS:
        yield f"{panel['type']} may need a plugin"
    if panel["type"] == "row":
        return
    if not panel.get("description"):
        yield "no description"
    for target in panel["targets"]:
        yield from expressions.complaints(metrics, target["expr"], [target["legendFormat"]])
        for label in re.findall(r'(\w+)=~"\$(\w+)"', target["expr"]):
            if label[0] != label[1]:
                yield f"the label {label[0]} is compared with ${label[1]}"
    for part in (panel, *panel["targets"]):
        if part["datasource"] != DATASOURCE:
            yield "its data source is not that of the variable"


def of_variable(metrics, variable):
    query = re.fullmatch(r"label_values\((.*), (\w+)\)", variable.get("definition", ""))
    if query:
        yield from expressions.complaints(metrics, query.group(1), [f"{{{{{query.group(2)}}}}}"])


def misplaced(panels):
    """Panels with the number of another one, over each other or beside the board."""
    numbers = [panel["id"] for panel in panels]
    if len(set(numbers)) < len(numbers):
        yield "two panels have the same number"
    for one, other in itertools.combinations(panels, 2):
        if overlap(one["gridPos"], other["gridPos"]):
            yield f"{one['title']} and {other['title']} overlap"
    for panel in panels:
        if panel["gridPos"]["x"] + panel["gridPos"]["w"] > 24:
            yield f"{panel['title']} is beside the board"


def overlap(one, other):
    return (one["x"] < other["x"] + other["w"] and other["x"] < one["x"] + one["w"]
            and one["y"] < other["y"] + other["h"] and other["y"] < one["y"] + one["h"])
