"""What docs/metrics.md says that programs print, and what they do print."""

import dataclasses
import re

SERVE, ELECT = "Of `holdfast serve`", "Of `elect --listen`"
LIBRARY = "The metrics"


@dataclasses.dataclass
class Family:
    """A metric, whatever the values of its labels."""

    type: str
    labels: set
    samples: int = 0


def sections(page):
    """The text below each heading."""
    parts = re.split(r"^#+ (.*)$", page, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def rows(text):
    """The cells of each line of tables, without what is above them."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("| `"):
            yield cells


def quoted(cell):
    return re.findall(r"`([^`]*)`", cell)


def documented(page, section):
    """name -> Family of the table in this section."""
    return {quoted(name)[0]: Family(type_of, set(quoted(labels)))
            for name, type_of, labels, _ in rows(sections(page)[section])}


def label_values(page):
    """label -> its values, or None where the page does not list them."""
    found = {}
    for name, values in rows(sections(page)["Labels"]):
        listed = re.fullmatch(r"(`[^`]*`(, )?)+", values)
        found[quoted(name)[0]] = set(quoted(values)) if listed else None
    return found


def everything(page):
    """All documented metrics. What has a kind may have the label that a program makes, too."""
    found = {}
    for section in (LIBRARY, SERVE, ELECT):
        found |= documented(page, section)
    for family in found.values():
        family.labels |= {"lock"} if "kind" in family.labels else set()
    return found


SAMPLE = re.compile(r"(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def printed(exposition):
    """(name -> Family, label -> values) of a page in Prometheus' text format."""
    families, values = {}, {}
    for line in exposition.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, type_of = line.split(" ")
            families[name] = Family(type_of, set())
        elif not line.startswith("#"):
            match = SAMPLE.fullmatch(line)
            family = families[family_of(match.group("name"), families)]
            family.samples += 1
            for label, value in LABEL.findall(match.group("labels") or ""):
                values.setdefault(label, set()).add(value)
                family.labels |= {label} - {"le"}
    return families, values


def family_of(name, families):
    """The family of a sample: a histogram has three names for its samples."""
    base = re.sub(r"_(bucket|sum|count)$", "", name)
    histogram = families.get(base)
    return base if histogram and histogram.type == "histogram" else name
