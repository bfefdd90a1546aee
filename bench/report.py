#!/usr/bin/python3
# Copyright (c) 2026 the sysipc_asio authors.
# Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

"""Makes a report of the results of a benchmark."""

import logging
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays clean

try:
    import matplotlib  # noqa: F401
except ImportError:
    debian = "/usr/bin/python3"  # another python3, without Debian's packages, may come first in PATH
    if sys.executable != debian and os.access(debian, os.X_OK):
        os.execv(debian, [debian, *sys.argv])
    sys.exit("report.py: matplotlib is missing (Debian: python3-matplotlib)")

from reporting import reference
from reporting.channels import scale, spin_sweep, strategies
from reporting.charts import svg
from reporting.command_line import Parser
from reporting.comparisons import limits, rtt, throughput
from reporting.document import Chart, Section, Table, to_html, to_markdown
from reporting.payload import payload
from reporting.rows import Malformed, load, reason
from reporting.tables import Results
from reporting.waiting import idle, ladder, wake

TITLE = "Results of sysipc-bench"
SECTIONS = (limits, rtt, throughput, strategies, spin_sweep, wake, payload, ladder, idle, scale)


def introduction(rows):
    repeats = {row["repeat"] for row in rows if "repeat" in row}
    runs = f"medians of {max(repeats)} runs" if repeats else "medians"
    if repeats == {1}:
        runs = "those of a single run"
    if len(repeats) > 1:
        runs += ", some of fewer"
    return [
        f"Two processes, each bound to its CPU; figures are {runs}. Spread: of the runs, the greatest "
        "less the least, in % of the median. Absolute figures change with the machine and what else runs "
        "on it: compare within a run.",
        f'Columns headed "{reference.NOTE}" hold published figures of other systems, from machines of '
        "their own: the last section names them.",
    ]


def references():
    table = Table(["", "system"], [list(pair) for pair in reference.SYSTEMS.items()], words=True)
    return [Section("reference", "Reference, other machine", "", [table])]


def machine(rows):
    facts = []
    for row in rows:
        if row["bench"] == "machine":
            facts = [
                (title, row[key])
                for key, title in (
                    ("cpu", "CPU"),
                    ("logical_cpus", "logical CPUs"),
                    ("virtual", "virtual"),
                    ("kernel", "kernel"),
                    ("compiler", "compiler"),
                    ("boost", "Boost"),
                    ("version", "sysipc_asio"),
                    ("driver", "driver used"),
                    ("date", "date"),
                )
                if key in row
            ]
    cpus = sorted({str(row["cpus"]) for row in rows if "cpus" in row})
    if cpus:
        both = any(row.get("shared_cpu") for row in rows)
        facts.append(("CPUs used", "; ".join(cpus) + (" (shared by both processes)" if both else "")))
    if not facts:
        return []
    table = Table(["property", "value"], [[title, _text(value)] for title, value in facts], words=True)
    return [Section("machine", "Machine", "", [table])]


def _text(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "no" if value == "none" else str(value)


def write(folder, rows):
    results = Results(rows)
    sections = machine(rows) + [made for build in SECTIONS for made in build(results)]
    sections += references()
    charts = [part for section in sections for part in section.parts if isinstance(part, Chart)]
    drawings = {chart.name: svg(chart) for chart in charts}
    for chart in charts:
        (folder / chart.file).write_text(drawings[chart.name], encoding="utf-8")
    intro = introduction(rows)
    page = to_html(TITLE, intro, sections, drawings)
    (folder / "report.html").write_text(page, encoding="utf-8")
    (folder / "results.md").write_text(to_markdown(TITLE, intro, sections), encoding="utf-8")


def main(arguments=None):
    parser = Parser(
        description="Reads DIR/results.json, which `sysipc-bench all --report DIR` writes, and writes "
        "DIR/report.html, which needs no other file, DIR/results.md, and the charts of the latter."
    )
    parser.add_argument("folder", metavar="DIR", type=Path)
    folder = parser.parse_args(arguments).folder
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # its cache of fonts is its affair
    try:
        write(folder, load(folder / "results.json"))
    except (Malformed, OSError) as failure:
        print(f"report.py: {reason(failure)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
