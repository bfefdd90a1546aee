# Copyright (c) 2026 the sysipc_asio authors.
# Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

"""The rows that `sysipc-bench --json` writes, read and checked."""

import json
import re

# What tells the rows of each benchmark apart, and what every measured one has.
KEYS = {
    "rtt": (["transport", "size"], ["rtt_p50_ns", "rtt_p99_ns"]),
    "throughput": (["transport", "size"], ["mmsg_per_s"]),
    "strategies": (["strategy"], ["mmsg_per_s", "idle_cpu_percent"]),
    "spin-sweep": (["policy"], ["mmsg_per_s"]),
    "wake": (["transport", "silence_ms"], ["rtt_p50_ns", "rtt_p99_ns"]),
    "payload": (["transport", "receiver", "size"], ["gib_per_s"]),
    "ladder": (["transport"], ["p50_us", "p99_us"]),
    "idle": (["transport"], ["cpu_percent"]),
    "scale": (["transport", "channels", "busy_channels"], ["rtt_p50_ns", "rtt_p99_ns", "mmsg_per_s"]),
    "machine": ([], []),
}
LIMITS = {
    "cacheline_pingpong": ([], ["rtt_p50_ns", "rtt_p99_ns"]),
    "bulk_lines": ([], ["mlines_per_s"]),
    "payload_in_place": (["slots", "receiver", "size"], ["gib_per_s"]),
    "payload_fill_copy": (["slots", "receiver", "size"], ["gib_per_s"]),
}

FIGURE = re.compile(r"_(ns|us|per_s|percent)$|^vs_|^kicks|^sleeps$")
COUNTS = {
    "size",
    "capacity",
    "inline_limit",
    "slots",
    "spin_limit",
    "silence_ms",
    "channels",
    "busy_channels",
    "rounds",
    "messages",
    "repeat",
    "seconds",
    "logical_cpus",
}
TEXTS = {
    "bench",
    "transport",
    "backend",
    "policy",
    "fence",
    "strategy",
    "receiver",
    "metric",
    "reason",
}
TRUTHS = {"supported", "shared_cpu", "driver"}


class Malformed(Exception):
    """The file is not what sysipc-bench writes."""


def reason(failure):
    """What to tell of a failure to load."""
    if isinstance(failure, OSError):
        return f"{failure.filename}: {failure.strerror}"
    return str(failure)


def is_figure(key):
    """Whether a key names something measured rather than what was measured."""
    return FIGURE.search(key) is not None


def supported(row):
    return row.get("supported", True)


def load(path):
    """Reads the array of rows in the file `path`. Raises OSError or Malformed."""

    def refuse(constant):
        raise Malformed(f"{constant} is not a number")

    with open(path, encoding="utf-8") as file:
        try:
            rows = json.load(file, parse_constant=refuse)
        except (Malformed, RecursionError, ValueError) as failure:  # ValueError: syntax, encoding
            raise Malformed(f"{path}: not JSON: {failure}") from None
    if not isinstance(rows, list):
        raise Malformed(f"{path}: not an array of rows")
    for number, row in enumerate(rows, 1):
        try:
            _check(row)
        except Malformed as failure:
            raise Malformed(f"{path}: row {number}: {failure}") from None
    return rows


def _check(row):
    if not isinstance(row, dict):
        raise Malformed("not an object")
    if "bench" not in row:
        raise Malformed("no bench")
    for key, value in row.items():
        _check_type(key, value)
    identity, figures = _expected(row)
    wanted = identity + (figures if supported(row) else ["reason"])
    missing = [key for key in wanted if key not in row]
    if missing:
        raise Malformed(f"{row['bench']} without {missing[0]}")


def _check_type(key, value):
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if is_figure(key) or key in COUNTS:
        if not is_number or not 0 <= value < 1e18:
            raise Malformed(f"{key} is not a number, or out of range")
        if key in COUNTS and value != int(value):
            raise Malformed(f"{key} is not a whole number")
    elif key in TRUTHS:
        if not isinstance(value, bool):
            raise Malformed(f"{key} is neither true nor false")
    elif key in TEXTS and not (isinstance(value, str) and value.isprintable()):
        raise Malformed(f"{key} is not a text")


def _expected(row):
    """Nothing of a benchmark or limit that is not known here: the bench may be newer."""
    if row["bench"] == "limits":
        if "metric" not in row:
            raise Malformed("limits without metric")
        return LIMITS.get(row["metric"], ([], []))
    return KEYS.get(row["bench"], ([], []))
