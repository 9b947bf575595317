"""Hooks of mkdocs (mkdocs.yml, scripts/docs): pages that are made when the site is built.

The API comes from the headers and the program's options from its manual page, so that neither is
written twice. A link from a page to something outside docs/, an example for instance, leads to a
page with its text: the site can be read without any other host.
"""

import pathlib
import posixpath
import re
import subprocess
import sys
from html import unescape

from mkdocs.structure.files import File

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import api_pages  # noqa: E402
from tidy_source import Project  # noqa: E402

LINK = re.compile(r"(?<=\]\()([^)\s#:]+)(?=[#)])")
project = Project(ROOT)
origins = {}  # page of the site -> what it stands for, as a path in the repository


def page_of(path):
    """The page of the site for a file or folder of the repository, if there is one."""
    inside = path.removeprefix("docs/") if path.startswith("docs/") else f"source/{path}"
    if header := re.fullmatch(r"include/holdfast/(\w+)\.hpp", path):
        return f"api/{header.group(1)}.md"
    if path == "cli/holdfast.1":
        return "cli.md"
    if path in project.by_path:
        return inside if path.endswith(".md") or path.startswith("docs/") else f"{inside}.md"
    if path.startswith("docs/") and (ROOT / path).is_file():  # a picture
        return inside
    if any(other.startswith(path + "/") for other in project.by_path):
        return f"{inside}/index.md"
    return None


def linked(page, link):
    return posixpath.normpath(posixpath.join(posixpath.dirname(origins[page]), link))


def text_of(path):
    """What the page for a file or folder says."""
    if path in project.by_path:
        text = project.text(path)
        language = pathlib.PurePosixPath(path).suffix[1:]
        return text if language == "md" else f"# {path}\n\n`````{language}\n{text}`````\n"
    inside = sorted(other for other in project.by_path if other.startswith(path + "/"))
    return f"# {path}/\n\n" + "\n".join(
        f"- [{title_of(one) or posixpath.relpath(one, path)}]({posixpath.relpath(one, path)})"
        for one in inside)


def title_of(path):
    first = project.text(path).partition("\n")[0]
    return first[2:] if path.endswith(".md") and first.startswith("# ") else None


def manual_page():
    """The manual page, its headings as those of the site."""
    html = subprocess.run(["mandoc", "-Thtml", "-Ofragment", str(ROOT / "cli/holdfast.1")],
                          capture_output=True, text=True, check=True).stdout
    html = re.sub(r'(?s)<table class="(head|foot)">.*?</table>|</?(section|div)[^>]*>', "", html)

    def code(match):
        return f"\n\n```sh\n{unescape(re.sub('<.*?>', '', match.group(1))).strip()}\n```\n\n"

    def heading(match):
        name = " ".join(re.sub("<.*?>", "", match.group(3)).split())
        title = name.capitalize() if name.isupper() else name
        return f"\n\n{'#' * (int(match.group(1)) + 1)} {title} {{ #{match.group(2)} }}\n\n"

    html = re.sub(r'(?s)<h(\d) class="S[hs]" id="([^"]*)">(.*?)</h\d>', heading, html)
    html = re.sub("(?s)<pre>(.*?)</pre>", code, html)
    return "# holdfast(1)\n" + html


def on_files(files, config):
    texts = {**api_pages.pages(project), "cli.md": manual_page()}
    origins.update({page: "docs/" + page for page in texts})
    for source in project.sources:
        if source.path.endswith(".md"):
            origins[page_of(source.path)] = source.path
            texts[page_of(source.path)] = source.text
    waiting = list(texts)
    while waiting:
        page = waiting.pop()
        for link in LINK.findall(texts[page]):
            path = linked(page, link)
            target = page_of(path)
            if target and target not in origins and target.endswith(".md"):
                origins[target] = path if path in project.by_path else path + "/"
                texts[target] = text_of(path)
                waiting.append(target)
    for page, text in texts.items():
        if not files.get_file_from_path(page):
            files.append(File.generated(config, page, content=text))
    config.nav = [expanded(item, files) for item in config.nav]
    return files


def expanded(item, files):
    """A part of the navigation; a folder stands for all pages in it."""
    if isinstance(item, dict):
        return {title: expanded(inside, files) for title, inside in item.items()}
    if isinstance(item, list):
        return [expanded(inside, files) for inside in item]
    if not item.endswith("/"):
        return item
    return sorted((file.src_uri for file in files.documentation_pages()
                   if file.src_uri.startswith(item) and "template" not in file.src_uri),
                  key=lambda uri: (not uri.endswith("index.md"), uri))


def on_page_markdown(markdown, page, config, files):
    here = page.file.src_uri
    if here.startswith("source/"):
        page.meta["search"] = {"exclude": True}
    if here.startswith(("api/", "decisions/")):
        page.meta["search"] = {"boost": 0.2}  # behind what explains the same word

    def here_to(match):
        target = page_of(linked(here, match.group()))
        return posixpath.relpath(target, posixpath.dirname(here)) if target else match.group()

    return LINK.sub(here_to, markdown)
