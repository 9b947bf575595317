"""Compiles headers alone, for tools/tidy --headers."""

import concurrent.futures
import os
import subprocess


def compile_alone(root, build, header):
    """What the compiler says about a file with only this header; empty when all is well."""
    name = header.path.removeprefix("include/").removeprefix("src/")
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra",
               f"-I{root}/include", f"-I{root}/src", f"-I{root}", f"-I{build}/generated",
               "-x", "c++", "-"]
    ended = subprocess.run(command, input=f'#include "{name}"\n', text=True, capture_output=True)
    return ended.stderr if ended.returncode else ""


def check_headers(project, build):
    headers = [s for s in project.cpp("include", "src", "cli") if s.is_header]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = list(pool.map(lambda h: compile_alone(project.root, build, h), headers))
    for header, complaint in zip(headers, complaints):
        if complaint:
            print(f"{header.path}:1: does not compile alone\n{complaint}")
    return len(headers), sum(map(bool, complaints))
