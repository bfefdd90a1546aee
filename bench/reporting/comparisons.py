# Copyright (c) 2026 the sysipc_asio authors.
# Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

"""Sections that set transports beside each other, and beside what the hardware allows."""

from . import reference
from .charts import Bar, Line, bars, lines
from .document import Chart, Section
from .tables import by_size, figure, listed, refusals, spread
from .transports import LIMIT, LOOKS, colour_of, family_of, marker_of, names, order
from .units import bytes_text, percent, plain, significant, time_text, times, whole

SMALL = 64  # bytes


LIMITS = {
    "cacheline_pingpong": "a cache line back and forth",
    "bulk_lines": "cache lines in bulk, one way",
}


def limits(results):
    rows = [row for row in results.of("limits") if row["metric"] in LIMITS]
    absent = results.unsupported("limits")
    if not rows and not absent:
        return []
    table = listed(
        ["limit", "round trip p50, ns", "p99, ns", "p99.9, ns", "million lines/s", "spread, %"],
        rows,
        lambda row: [
            LIMITS[row["metric"]],
            figure(row, "rtt_p50_ns", whole),
            figure(row, "rtt_p99_ns", whole),
            figure(row, "rtt_p999_ns", whole),
            figure(row, "mlines_per_s", significant),
            spread(row),
        ],
        absent,
        lambda row: LIMITS.get(row["metric"], row["metric"]),
    )
    text = "What two CPUs can do at all: no ring and no channel on this machine can be faster."
    return [Section("limits", "Limits of the hardware", text, [table])]


def rtt(results):
    rows = sorted(results.of("rtt"), key=lambda row: order(row["transport"]))
    return _sized(
        results,
        rows,
        "rtt",
        "Round trip",
        "rtt_p50_ns",
        "There and back, p50. Lower is better.",
        lambda name: [
            by_size("round trip p50, ns", rows, results.unsupported("rtt"), "rtt_p50_ns", whole, name),
            by_size("round trip p99, ns", rows, results.unsupported("rtt"), "rtt_p99_ns", whole, name),
        ],
        _rtt_small,
        y_label="round trip p50 (log)",
        y_text=time_text,
        limit=[
            ("limit: a cache line", row["rtt_p50_ns"])
            for row in results.of("limits", metric="cacheline_pingpong")
        ],
    )


def throughput(results):
    rows = sorted(results.of("throughput"), key=lambda row: order(row["transport"]))
    absent = results.unsupported("throughput")

    def tables(name):
        result = [by_size("million messages/s", rows, absent, "mmsg_per_s", significant, name)]
        if all("gib_per_s" in row for row in rows):
            result.append(by_size("GiB/s", rows, absent, "gib_per_s", significant, name))
        return result

    return _sized(
        results,
        rows,
        "throughput",
        "Throughput",
        "mmsg_per_s",
        "One way, as fast as it goes. Higher is better.",
        tables,
        _throughput_small,
        y_label="million messages/s (log)",
        y_text=plain,
        limit=[],
    )


def _sized(results, rows, bench, title, key, text, tables, small, *, y_label, y_text, limit):
    """The section of the small messages, and that of all sizes."""
    absent = results.unsupported(bench)
    if not rows and not absent:
        return []
    if not rows:
        return [Section(f"{bench}-by-size", title, text, [refusals(absent, names(absent))])]
    name = names(rows + absent)
    sections = []
    of_small = [row for row in rows if row["size"] == SMALL]
    if of_small:
        sections.append(small(results, of_small, names(of_small), text))
    sizes = sorted({row["size"] for row in rows})
    if sizes != [SMALL]:
        parts = tables(name)
        series = lines_of(rows, key, name)
        if len(sizes) > 1 and series:
            series += [
                Line(label, [(sizes[0], value), (sizes[-1], value)], LIMIT, LOOKS[LIMIT].line)
                for label, value in limit
            ]
            chart = lines(
                f"{title} by message size",
                series,
                x_label="message size (log)",
                y_label=y_label,
                x_text=bytes_text,
                y_text=y_text,
            )
            parts.insert(0, Chart(f"{bench}-by-size", f"{title} by message size", chart))
        sections.append(Section(f"{bench}-by-size", f"{title} by message size", text, parts))
    return sections


def lines_of(rows, key, name):
    """Zero, which a figure is when rounding left nothing of it, has no place on these axes."""
    series = {}
    for row in rows:
        if row[key] > 0 and row["size"] > 0:
            series.setdefault(name(row), (row["transport"], []))[1].append((row["size"], row[key]))
    return [
        Line(label, sorted(points), family_of(of), colour_of(of), marker_of(of))
        for label, (of, points) in series.items()
    ]


def latency_bar(name, row, family, group=""):
    p50, p99 = row["rtt_p50_ns"], row["rtt_p99_ns"]
    return Bar(name, p50, f"{time_text(p50)} (p99 {time_text(p99)})", family, p99, group)


def _to_peer(row, rows, peer, key, lower):
    """How many times as fast as `peer`."""
    theirs = [other[key] for other in rows if other["transport"] == peer]
    if len(theirs) != 1 or theirs[0] == 0 or row[key] == 0:
        return ""
    return times(theirs[0] / row[key] if lower else row[key] / theirs[0])


def _rtt_small(results, rows, name, text):
    def cells(row):
        other = reference.RTT_64.get(row["transport"])
        return [
            name(row),
            whole(row["rtt_p50_ns"]),
            whole(row["rtt_p99_ns"]),
            figure(row, "rtt_p999_ns", whole),
            figure(row, "vs_limit", times),
            _to_peer(row, rows, "uds", "rtt_p50_ns", True),
            _to_peer(row, rows, "uds-asio", "rtt_p50_ns", True),
            spread(row),
            f"{other[0]:,} / {other[1]:,}" if other else "",
        ]

    absent = results.unsupported("rtt", size=SMALL)
    table = listed(
        [
            "transport",
            "round trip p50, ns",
            "p99, ns",
            "p99.9, ns",
            "p50 to that of a cache line",
            "times as fast as uds",
            "times as fast as uds-asio",
            "spread, %",
            f"{reference.NOTE} (A): p50 / p99, ns",
        ],
        rows,
        cells,
        absent,
        names(absent),
    )
    entries = [
        latency_bar("limit: a cache line", row, LIMIT)
        for row in results.of("limits", metric="cacheline_pingpong")
    ]
    entries += [latency_bar(name(row), row, family_of(row["transport"])) for row in rows]
    entries.sort(key=lambda bar: bar.value)
    chart = bars(
        "Round trip of 64 bytes", entries, label="round trip (log); bar: p50, whisker: p99", text=time_text
    )
    alt = "Round trip of 64 bytes: p50 and p99 of each transport"
    return Section("rtt-64", "Round trip, 64 bytes", text, [Chart("rtt-64", alt, chart), table])


def _throughput_small(results, rows, name, text):
    def cells(row):
        other = reference.THROUGHPUT_64.get(row["transport"])
        return [
            name(row),
            significant(row["mmsg_per_s"]),
            figure(row, "gib_per_s", significant),
            figure(row, "kicks", whole),
            figure(row, "kicks_avoided_percent", percent),
            figure(row, "vs_limit", lambda value: significant(100 * value, 2)),
            _to_peer(row, rows, "uds", "mmsg_per_s", False),
            _to_peer(row, rows, "uds-asio", "mmsg_per_s", False),
            spread(row),
            str(other or ""),
        ]

    absent = results.unsupported("throughput", size=SMALL)
    table = listed(
        [
            "transport",
            "million messages/s",
            "GiB/s",
            "kicks",
            "kicks avoided, %",
            "% of bulk lines",
            "times as fast as uds",
            "times as fast as uds-asio",
            "spread, %",
            f"{reference.NOTE} (A): million messages/s",
        ],
        rows,
        cells,
        absent,
        names(absent),
    )
    entries = [
        Bar("limit: bulk lines", row["mlines_per_s"], significant(row["mlines_per_s"]), LIMIT)
        for row in results.of("limits", metric="bulk_lines")
    ]
    entries += [
        Bar(name(row), row["mmsg_per_s"], significant(row["mmsg_per_s"]), family_of(row["transport"]))
        for row in rows
    ]
    entries.sort(key=lambda bar: -bar.value)
    chart = bars("Throughput of 64-byte messages", entries, label="million messages/s (log)", text=plain)
    alt = "Million 64-byte messages per second of each transport"
    parts = [Chart("throughput-64", alt, chart), table]
    return Section("throughput-64", "Throughput, 64 bytes", text, parts)
