"""Markdown pages of the public API for the site: one for each header, and one that lists them."""

import re

from api_reference import about, entries

INDEX = """# The C++ API

All names are in the namespace `holdfast`. `#include <holdfast/holdfast.hpp>` has all of them but
the bridge to Asio.

| header | what is in it |
| --- | --- |
"""


def pages(project):
    """Path in the site -> text."""
    headers = {source.path.split("/")[-1].removesuffix(".hpp"): source.text
               for source in project.cpp("include/holdfast")
               if not source.is_under("include/holdfast/detail")}
    declared = {name: entries(text) for name, text in headers.items()}
    targets = {}
    for name, among in declared.items():
        _name_anchors(f"{name}.md", among, "", targets)
    found, index = {}, INDEX
    for name, text in headers.items():
        says = _linked(about(text), "", targets)
        first = says.partition("\n\n")[0].replace("\n", " ")
        index += f"| [{name}.hpp]({name}.md) | {first} |\n"
        found[f"api/{name}.md"] = "\n\n".join(
            [f"# {name}.hpp", f"```cpp\n#include <holdfast/{name}.hpp>\n```", says,
             *_sections(declared[name], "", targets)])
    return {**found, "api/index.md": index}


def _name_anchors(page, among, owner, targets):
    """Gives each entry an anchor of its own, and notes where its name leads."""
    for entry in among:
        entry.full_name = f"{owner}::{entry.name}".removeprefix("::")
        key = entry.full_name
        while key in targets:
            key += "-2"
        entry.anchor = re.sub(r"\W", "-", key.replace("::", "-")).lower()
        targets[key] = f"{page}#{entry.anchor}"
        _name_anchors(page, entry.members, entry.full_name, targets)


def _sections(among, owner, targets):
    level = "##" if not owner else "###"
    for entry in among:
        if not entry.comment:
            continue  # defaulted or deleted
        yield f'{level} `{entry.full_name}` {{ #{entry.anchor} data-toc-label="{entry.name}" }}'
        yield f"```cpp\n{entry.code.removesuffix(' {')}\n```"
        yield _linked(entry.comment, entry.full_name if entry.members else owner, targets)
        if entry.is_enum:
            rows = [f"| `{one.code.rstrip(',')}`{{ #{one.anchor} }} | "
                    f"{_linked(' '.join(one.comment.split()), '', targets)} |"
                    for one in entry.members]
            yield "\n".join(["| value | meaning |", "| --- | --- |", *rows])
        else:
            yield from _sections(entry.members, entry.full_name, targets)


def _linked(comment, owner, targets):
    """With links where it names what has a place of its own."""
    def link(match):
        name = match.group(1)
        wanted = [f"{owner}::{name}", name]
        if not match.group(2):
            wanted.insert(0, f"errc::{name}")  # `lost` is an error, `lost()` is a function
        target = next((targets[one] for one in wanted if one in targets), None)
        return f"[{match.group()}]({target})" if target else match.group()

    comment = re.sub(r"`([a-z][\w:]*)(\(\))?`", link, comment)
    comment = re.sub(r"\b(docs/)([\w/-]+\.md)", r"[\1\2](../\2)", comment)
    return re.sub(r"\bexamples/[\w/]+\.\w+", r"[\g<0>](../../\g<0>)", comment)
