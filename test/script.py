# Copyright (c) 2026 the sysipc_asio authors.
# Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

"""Runs the scripts of the benchmark as a user would."""

import json
import os
import subprocess
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent / "bench"

# Files that are not what sysipc-bench writes.
MALFORMED = {
    "empty": "",
    "cut short": '[{"bench": "rtt"',
    "not UTF-8": b"\xff\xfe[",
    "not an array": '{"bench": "rtt"}',
    "not objects": "[1]",
    "no bench": '[{"transport": "uds"}]',
    "bench is a number": '[{"bench": 1}]',
    "no size": '[{"bench": "rtt", "transport": "uds", "rtt_p50_ns": 1, "rtt_p99_ns": 1}]',
    "a text for a figure": '[{"bench": "throughput", "transport": "uds", "size": 64, "mmsg_per_s": "1"}]',
    "true for a figure": '[{"bench": "throughput", "transport": "uds", "size": 64, "mmsg_per_s": true}]',
    "negative": '[{"bench": "throughput", "transport": "uds", "size": 64, "mmsg_per_s": -1}]',
    "not a number": '[{"bench": "throughput", "transport": "uds", "size": 64, "mmsg_per_s": NaN}]',
    "immense": '[{"bench": "throughput", "transport": "uds", "size": 64, "mmsg_per_s": 1' + "0" * 400 + "}]",
    "half a byte": '[{"bench": "throughput", "transport": "uds", "size": 0.5, "mmsg_per_s": 1}]',
    "control characters": '[{"bench": "throughput", "transport": "\\u0000", "size": 64, "mmsg_per_s": 1}]',
    "no reason": '[{"bench": "payload", "transport": "loan", "receiver": "full", "size": 1, "supported": false}]',
    "limits of nothing": '[{"bench": "limits", "gib_per_s": 1}]',
    "deep": "[" * 100000,
}


def run(script, *arguments, **environment):
    """@returns the exit status, what was printed, and what went to stderr."""
    done = subprocess.run(
        [BENCH / script, *arguments],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def write(file, rows):
    file.write_text(json.dumps(rows), encoding="utf-8")
    return file


def write_malformed(file, content):
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file
