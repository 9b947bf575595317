#!/usr/bin/env python3
"""Compares the manifests of examples/deploy/kubernetes with the schemas that Kubernetes publishes.

The package kubernetes-validate has the schemas; scripts/docs installs it, and runs this.
"""

import pathlib

import kubernetes_validate
import yaml

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples/deploy/kubernetes"
VERSIONS = ("1.28", "1.33")

for file in sorted(FOLDER.glob("*.yaml")):
    for manifest in yaml.safe_load_all(file.read_text(encoding="utf-8")):
        for version in VERSIONS:
            kubernetes_validate.validate(manifest, version, strict=True)  # throws
            print(f"{file.name}: {manifest['kind']} as Kubernetes {version} has it")
