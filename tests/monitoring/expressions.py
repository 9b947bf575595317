"""Compares expressions, and the texts beside them, with the metrics that docs/metrics.md lists."""

import re

import documented
import promql

# What Prometheus itself adds, or shows.
TARGET_LABELS = {"job", "instance", "pod"}
OF_PROMETHEUS = {"ALERTS": {"alertname", "alertstate", "severity"}}


class Metrics:
    """The metrics of a page, as samples have their names."""

    def __init__(self, page):
        self.families = documented.everything(page)
        self.values = documented.label_values(page)
        self.labels = dict(OF_PROMETHEUS)
        for name, family in self.families.items():
            if family.type != "histogram":
                self.labels[name] = family.labels
                continue
            self.labels |= {f"{name}_{part}": family.labels for part in ("sum", "count")}
            self.labels[f"{name}_bucket"] = family.labels | {"le"}

    def named(self, selector):
        """The names of the samples that a selector may mean."""
        if selector.name:
            return {selector.name} & self.labels.keys()
        patterns = [value for label, _, value in selector.matchers if label == "__name__"]
        return {name for name in self.labels
                if patterns and all(re.fullmatch(one, name) for one in patterns)}

    def families_in(self, expression):
        return {documented.family_of(name, self.families)
                for selector in promql.used(expression).selectors for name in self.named(selector)}


def complaints(metrics, expression, texts=()):
    """What is wrong with an expression; `texts` show labels of what it gives."""
    using = promql.used(expression)
    known = set(TARGET_LABELS)
    for selector in using.selectors:
        names = metrics.named(selector)
        if not names:
            yield f"no program prints {selector.name or selector.matchers}"
            continue
        labels = set().union(*(metrics.labels[name] for name in names)) | TARGET_LABELS
        known |= labels
        yield from wrong_matchers(metrics, selector, labels)
    for word, grouped in using.labels.items():
        for label in sorted(grouped - known):
            yield f"`{word} ({label})`: no such label"
    shown = {label for text in texts
             for label in re.findall(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}", text)}
    kept = (using.labels["by"] or known) - using.labels["without"]
    for label in sorted(shown - kept):
        yield f"`{label}` is shown, and the result has no such label"


def wrong_matchers(metrics, selector, labels):
    for label, operator, value in selector.matchers:
        if label == "__name__":
            continue
        listed = metrics.values.get(label)
        if label not in labels:
            yield f"{selector.name} has no label `{label}`"
        elif listed and "$" not in value and not any(matches(operator, value, one)
                                                     for one in listed):
            yield f"`{label}` of {selector.name} is never {value}"


def matches(operator, value, given):
    equal = bool(re.fullmatch(value, given)) if "~" in operator else value == given
    return equal != operator.startswith("!")
