# Copyright (c) 2026 the sysipc_asio authors.
# Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

"""Sections about sides that sleep: waking them, and what they cost meanwhile."""

from . import reference
from .charts import Bar, bars
from .comparisons import latency_bar
from .document import Chart, Section
from .tables import figure, listed, spread
from .transports import family_of, names, order
from .units import hundredths, plain, significant, time_text, whole


def wake(results):
    rows = sorted(results.of("wake"), key=lambda row: (row["silence_ms"], row["rtt_p50_ns"]))
    absent = results.unsupported("wake")
    if not rows and not absent:
        return []
    name = names(rows + absent)
    table = listed(
        ["transport", "silence before, ms", "round trip p50, ns", "p99, ns", "spread, %"],
        rows,
        lambda row: [
            name(row),
            whole(row["silence_ms"]),
            whole(row["rtt_p50_ns"]),
            whole(row["rtt_p99_ns"]),
            spread(row),
        ],
        absent,
        name,
    )
    parts = [table]
    if rows:
        entries = [
            latency_bar(name(row), row, family_of(row["transport"]), _silence(row["silence_ms"]))
            for row in rows
        ]
        chart = bars(
            "Round trip with both sides asleep",
            entries,
            label="round trip (log); bar: p50, whisker: p99",
            text=time_text,
        )
        parts.insert(0, Chart("wake", "Round trip with both sides asleep, by silence before", chart))
    text = (
        "Both sides sleep when the message comes: back to back (silence 0), or after so much silence "
        "that the CPUs and their caches have gone cold. Lower is better."
    )
    return [Section("wake", "Waking up", text, parts)]


def _silence(ms):
    return "back to back" if ms == 0 else f"after {time_text(ms * 1e6)}"


def ladder(results):
    rows = sorted(results.of("ladder"), key=lambda row: (row["p50_us"], order(row["transport"])))
    absent = results.unsupported("ladder")
    if not rows and not absent:
        return []
    name = names(rows + absent)

    def cells(row):
        other = reference.LADDER.get(row["transport"])
        return [
            name(row),
            significant(row["p50_us"]),
            significant(row["p99_us"]),
            spread(row),
            " / ".join(other) if other else "",
        ]

    table = listed(
        ["coordination by", "p50, µs", "p99, µs", "spread, %", f"{reference.NOTE} (C): p50 / p99, µs"],
        rows,
        cells,
        absent,
        name,
    )
    parts = [table]
    if rows:
        entries = [_ladder_bar(name(row), row) for row in rows]
        chart = bars(
            "One serialized round", entries, label="latency (log); bar: p50, whisker: p99", text=time_text
        )
        parts.insert(0, Chart("ladder", "p50 and p99 of a serialized round by way of coordination", chart))
    text = "Each round begins when the one before has been acknowledged. Lower is better."
    return [Section("ladder", "The coordination ladder", text, parts)]


def _ladder_bar(name, row):
    p50, p99 = 1000 * row["p50_us"], 1000 * row["p99_us"]
    return Bar(name, p50, f"{time_text(p50)} (p99 {time_text(p99)})", family_of(row["transport"]), p99)


def idle(results):
    rows = sorted(results.of("idle"), key=lambda row: (row["cpu_percent"], order(row["transport"])))
    absent = results.unsupported("idle")
    if not rows and not absent:
        return []
    name = names(rows + absent)
    table = listed(
        ["waiting receiver", "CPU, %", "voluntary context switches/s", "involuntary/s", "spread, %"],
        rows,
        lambda row: [
            name(row),
            hundredths(row["cpu_percent"]),
            figure(row, "voluntary_switches_per_s", plain),
            figure(row, "involuntary_switches_per_s", plain),
            spread(row),
        ],
        absent,
        name,
    )
    table.notes.append(f"{reference.NOTE.capitalize()}: {reference.IDLE_NOTE}")
    parts = [table]
    if rows:
        entries = [
            Bar(name(row), row["cpu_percent"], _idle_text(row), family_of(row["transport"])) for row in rows
        ]
        chart = bars(
            "CPU of a receiver that waits",
            entries,
            label="CPU, % of one",
            text="{:.0f}".format,
            log=False,
            end=100,
        )
        parts.insert(0, Chart("idle", "CPU time of a waiting receiver by transport and policy", chart))
    text = "A receiver that gets nothing, for some seconds. Lower is better."
    return [Section("idle", "Idle", text, parts)]


def _idle_text(row):
    text = f"{hundredths(row['cpu_percent'])} %"
    if "voluntary_switches_per_s" in row:
        text += f", {plain(row['voluntary_switches_per_s'])} switches/s"
    return text
