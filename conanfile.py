"""The Conan recipe: `conan create .`"""

import pathlib
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, rmdir


class Holdfast(ConanFile):
    name = "holdfast"
    description = "Distributed locks on Redis and Valkey"
    license = "MIT"
    topics = ("lock", "mutex", "redis", "valkey", "distributed")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "tls": [True, False]}
    default_options = {"shared": False, "fPIC": True, "tls": True}
    implements = ["auto_shared_fpic"]
    exports_sources = "CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*"

    def set_version(self):
        lists = (pathlib.Path(self.recipe_folder) / "CMakeLists.txt").read_text(encoding="utf-8")
        self.version = re.search(r"^project\(holdfast VERSION (\S+)", lists, re.M).group(1)

    def requirements(self):
        if self.options.tls:
            self.requires("openssl/[>=3 <4]")

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["HOLDFAST_WITH_TLS"] = bool(self.options.tls)
        for part in "CLI", "TESTS", "EXAMPLES", "BENCHMARKS":
            toolchain.cache_variables[f"HOLDFAST_BUILD_{part}"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, pathlib.Path(self.package_folder) / "licenses")
        for folder in "lib/cmake", "lib/pkgconfig", "share":  # Conan writes its own
            rmdir(self, pathlib.Path(self.package_folder) / folder)

    def package_info(self):
        self.cpp_info.libs = ["holdfast"]
        self.cpp_info.system_libs = ["pthread"]
