#!/usr/bin/env python3
"""Compares alerts and board with the metrics that programs print; says what differs, one line each.

    check_names.py EXPOSITION     the program that prints all metrics of the library
"""

import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import alerts  # noqa: E402
import board  # noqa: E402
import documented  # noqa: E402
from expressions import Metrics  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACE = ROOT / "packaging/monitoring"


def differences(page, sections, exposition, all_have_samples=True):
    """What a program prints and these sections of the page do not list, and the reverse."""
    families, values = documented.printed(exposition)
    listed = {}
    for section in sections:
        listed |= documented.documented(page, section)
    for name in sorted(families.keys() ^ listed.keys()):
        yield f"{name} is {'printed' if name in families else 'listed'} alone"
    for name in sorted(families.keys() & listed.keys()):
        yield from differing(name, families[name], listed[name], all_have_samples)
    known = documented.label_values(page)
    for label, seen in sorted(values.items()):
        for value in sorted(seen - (known.get(label) or seen)):
            yield f'{label}="{value}" is printed, and not listed'


def differing(name, printed, listed, must_have_samples):
    if printed.type != listed.type:
        yield f"{name} is a {printed.type}"
    if printed.samples == 0:
        if must_have_samples:
            yield f"{name} is printed without a sample"
        return
    for label in sorted((printed.labels - {"lock"}) ^ listed.labels):
        where = "printed" if label in printed.labels else "listed"
        yield f"the label `{label}` of {name} is {where} alone"


def main():
    page = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    exposition = subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout
    metrics = Metrics(page)
    found = [f"metrics.md: {one}"
             for one in differences(page, [documented.LIBRARY], exposition)]
    shown = (PLACE / "holdfast-dashboard.json").read_text(encoding="utf-8")
    found += [f"board: {one}" for one in board.complaints(metrics, shown)]
    if alerts.can_read():
        found += [f"alerts: {one}" for one in alerts.complaints(metrics, PLACE, ROOT / "docs")]
    print("\n".join(found), end="\n" if found else "")
    print(f"{len(metrics.families)} metrics are listed, {len(found)} complaints")
    if found:
        return 1
    if not alerts.can_read():
        print("skipped: alerts need python3-yaml (scripts/install-packages check)")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
