"""What all pictures of docs/diagrams/ share: how they look, and the command line of their tools."""

import argparse
import html
import pathlib

STYLE = pathlib.Path(__file__).with_name("diagram.css").read_text(encoding="utf-8")


def svg(width, height, title, desc, body):
    """A whole picture that stands on paper of its own, light or dark as its reader likes."""
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            f'width="{width:g}" height="{height:g}" role="img" aria-labelledby="title desc">\n'
            f'<title id="title">{html.escape(title)}</title>\n'
            f'<desc id="desc">{html.escape(desc)}</desc>\n<style>\n{STYLE}</style>\n'
            f'<rect class="paper" width="100%" height="100%"/>\n{body}\n</svg>\n')


def run(description, draw_file):
    """The command line of both tools: writes each picture, or says which is stale."""
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    arguments, stale = parser.parse_args(), 0
    for path in arguments.files:
        stale += draw_file(path, path.with_suffix(".svg"), arguments.check)
    return 1 if stale else 0
