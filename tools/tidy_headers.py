"""Compiles headers alone, for tools/tidy --headers."""

import concurrent.futures
import os
import subprocess

from tidy_source import includes


def name_of(header):
    return header.path.removeprefix("include/").removeprefix("src/")


def is_first_elsewhere(project, header):
    """Whether its own source file begins with it, so that every build without precompiled headers
    (.ci/run clang) compiles it alone."""
    own = project.by_path.get(header.path.removesuffix(".hpp") + ".cpp")
    first = next(includes(own), None) if own else None
    return first is not None and first.name == name_of(header)


def compile_alone(root, build, header):
    """What the compiler says about a file with only this header; empty when all is well."""
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra",
               f"-I{root}/include", f"-I{root}/src", f"-I{root}", f"-I{build}/generated",
               "-x", "c++", "-"]
    only = f'#include "{name_of(header)}"\n'
    ended = subprocess.run(command, input=only, text=True, capture_output=True)
    return ended.stderr if ended.returncode else ""


def check_headers(project, build):
    headers = [s for s in project.cpp("include", "src", "cli")
               if s.is_header and not is_first_elsewhere(project, s)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = list(pool.map(lambda h: compile_alone(project.root, build, h), headers))
    for header, complaint in zip(headers, complaints):
        if complaint:
            print(f"{header.path}:1: does not compile alone\n{complaint}")
    return len(headers), sum(map(bool, complaints))
