"""What is wrong with the alert rules, their tests, and what documents say of them."""

import collections
import re

import expressions

SEVERITIES = {"critical", "warning", "info"}
SITE = "https://docs.example.com/holdfast/"


def can_read():
    try:
        import yaml  # noqa: F401, PLC0415: not everybody has it
    except ImportError:
        return False
    return True


def load(file):
    import yaml  # noqa: PLC0415
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def anchors(page):
    """The headings of a page, as links name them."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)$", page, re.M)}


def complaints(metrics, place, docs):
    rules = [rule for group in load(place / "holdfast-alerts.yml")["groups"]
             for rule in group["rules"]]
    for rule in rules:
        for one in of_rule(metrics, rule, docs):
            yield f"{rule['alert']}: {one}"
    yield from untested(rules, load(place / "holdfast-alerts.test.yml")["tests"])


def of_rule(metrics, rule, docs):
    notes = rule.get("annotations", {})
    yield from expressions.complaints(metrics, rule["expr"], notes.values())
    if rule.get("labels", {}).get("severity") not in SEVERITIES:
        yield "its severity is none"
    for missing in sorted({"summary", "description", "runbook_url"} - notes.keys()):
        yield f"no {missing}"
    link = re.fullmatch(re.escape(SITE) + r"([\w/-]+)\.html#([\w-]+)", notes.get("runbook_url", ""))
    page = docs / f"{link.group(1)}.md" if link else None
    if not page or not page.exists() or link.group(2) not in anchors(
            page.read_text(encoding="utf-8")):
        yield "its runbook_url leads nowhere"
    if f"### {rule['alert']}\n" not in (docs / "howto/monitoring.md").read_text(encoding="utf-8"):
        yield "docs/howto/monitoring.md has no section on it"


def untested(rules, tests):
    """Each alert must be seen to be silent, to fire and to end, in one group of tests."""
    seen = collections.defaultdict(set)
    for group in tests:
        cases = collections.defaultdict(str)
        for case in group["alert_rule_test"]:
            cases[case["alertname"]] += "fires " if case.get("exp_alerts") else "silent "
        for name, course in cases.items():
            seen[name].add(course)
    names = [rule["alert"] for rule in rules]
    for name in sorted(seen.keys() - set(names)):
        yield f"{name} is tested, and is no alert"
    for name in names:
        if not any(re.search("silent (fires )+silent", course) for course in seen[name]):
            yield f"{name}: no test in which it is silent, fires and ends"
