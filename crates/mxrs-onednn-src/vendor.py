#!/usr/bin/env python3
"""Writes vendor/: the part of oneDNN that a CPU build for x86-64 compiles, and the list of those files.

Needed only when moving to another oneDNN, or when `mxrs-backend-onednn` calls another kind of primitive. Usage:

    ./vendor.py SOURCE

SOURCE is a source tree of oneDNN. CMake configures it in a temporary folder; its compile commands say which files the
library is made of, and its `dnnl_config.h` how it was configured. Files of primitives that are not in `PRIMITIVES` are
left out, and the headers are those that the C++ compiler reports for the remaining files. `build.rs` has the flags:
compare them with the ones this script prints.
"""

import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# What `mxrs-backend-onednn` calls, and what these primitives use inside oneDNN.
PRIMITIVES = [
    "BATCH_NORMALIZATION", "BINARY", "CONCAT", "CONVOLUTION", "ELTWISE", "INNER_PRODUCT", "LAYER_NORMALIZATION", "LRN",
    "MATMUL", "POOLING", "REDUCTION", "REORDER", "SOFTMAX", "SUM",
]
# Files that only the other primitives need. The lists of implementations stay: that of such a primitive is empty.
LEFT_OUT = re.compile(
    r"src/cpu/(x64/)?(rnn|prelu|shuffle)/"
    r"|src/cpu/(?!.*_list\.cpp).*(deconv|resampling|ref_prelu|ref_shuffle|group_normalization)"
)
CONFIGURE = {
    "CMAKE_BUILD_TYPE": "Release", "CMAKE_EXPORT_COMPILE_COMMANDS": "ON", "ONEDNN_LIBRARY_TYPE": "STATIC",
    # Work runs on threads that the caller hands in, never on a second team of OpenMP's.
    "ONEDNN_CPU_RUNTIME": "THREADPOOL", "ONEDNN_GPU_RUNTIME": "NONE", "ONEDNN_ENABLE_WORKLOAD": "TRAINING",
    "ONEDNN_ENABLE_PRIMITIVE": ";".join(PRIMITIVES), "ONEDNN_ENABLE_PRIMITIVE_CPU_ISA": "ALL",
    "ONEDNN_BUILD_GRAPH": "OFF", "ONEDNN_BUILD_DOC": "OFF", "ONEDNN_BUILD_TESTS": "OFF", "ONEDNN_BUILD_EXAMPLES": "OFF",
    "ONEDNN_ENABLE_ITT_TASKS": "OFF", "ONEDNN_VERBOSE": "ON", "ONEDNN_EXPERIMENTAL": "OFF",
}
LICENSES = ["LICENSE", "THIRD-PARTY-PROGRAMS"]
HERE = pathlib.Path(__file__).resolve().parent


def dependencies(entry):
    """Files that one compile command reads."""
    command = re.sub(r" -o \S+ -c ", " -M ", entry["command"])
    text = subprocess.check_output(command, shell=True, text=True, cwd=entry["directory"])
    return [pathlib.Path(word).resolve() for word in text.replace("\\\n", " ").split(":", 1)[1].split()]


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    vendor = HERE / "vendor"
    shutil.rmtree(vendor, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        built = pathlib.Path(folder).resolve()
        options = [f"-D{name}={value}" for name, value in CONFIGURE.items()]
        subprocess.check_call(["cmake", "-G", "Ninja", str(source), *options], cwd=built, stdout=subprocess.DEVNULL)
        entries = json.loads((built / "compile_commands.json").read_text())
        entries = [entry for entry in entries if not LEFT_OUT.search(entry["file"])]
        files = set()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for found in pool.map(dependencies, entries):
                files.update(found)
        # The public headers that the bindings are generated from.
        files.update(source / "include/oneapi/dnnl" / name for name in ["dnnl.h", "dnnl_threadpool.h", "dnnl_threadpool_iface.hpp"])
        for path in sorted(files):
            for root in (source, built):
                if path.is_relative_to(root):
                    target = vendor / path.relative_to(root)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, target)
        for path in [source / name for name in LICENSES] + sorted(source.glob("third_party/*/*LICENSE*")) + sorted(source.glob("third_party/*/COPYRIGHT")):
            target = vendor / path.relative_to(source)
            if target.parent.is_dir():
                shutil.copyfile(path, target)
        flags = set()
        for entry in entries:
            words = entry["command"].split()
            flags.add(" ".join(word for word in words if not word.startswith(("-I", "/")) and not word.endswith((".cpp", ".c", ".S", ".o"))))
        print(*sorted(flags), sep="\n")
    compiled = sorted(str(pathlib.Path(entry["file"]).relative_to(source)) for entry in entries)
    (vendor / "files.txt").write_text("".join(f"{name}\n" for name in compiled))
    print(f"{len(compiled)} files to compile, {sum(path.stat().st_size for path in vendor.rglob('*') if path.is_file()) >> 10} KiB")


main()
