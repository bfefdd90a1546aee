# Copyright (c) 2026 the sysipc_asio authors.
# Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

"""Sections about a channel's own choices: strategy, spin limit, many of them at once."""

from . import reference
from .charts import Bar, Line, bars, lines
from .document import Chart, Section
from .tables import figure, listed, refusals, spread
from .transports import KERNEL, LIMIT, LOOKS, OURS, names
from .units import hundredths, percent, plain, significant, time_text, times, whole

STRATEGIES = {
    "busy": "busy: spin only",
    "kick_always": "kick_always: poll, kick on every push",
    "adaptive": "adaptive: conditional kick, adaptive spin",
}


def strategies(results):
    rows = results.of("strategies")
    absent = results.unsupported("strategies")
    if not rows and not absent:
        return []
    # The strategy is the policy.
    short = names(rows + absent, "strategy", ("backend", "fence", "size"))

    def name(row):
        return short(row).replace(row["strategy"], STRATEGIES.get(row["strategy"], row["strategy"]), 1)

    def cells(row):
        other = reference.STRATEGIES.get(row["strategy"])
        return [
            name(row),
            significant(row["mmsg_per_s"]),
            figure(row, "vs_busy", lambda value: f"{100 * value:.0f}"),
            hundredths(row["idle_cpu_percent"]),
            figure(row, "kicks", whole),
            figure(row, "kicks_avoided_percent", percent),
            spread(row),
            " / ".join(map(str, other)) if other else "",
        ]

    table = listed(
        [
            "strategy",
            "million messages/s",
            "% of busy",
            "idle CPU, %",
            "kicks",
            "kicks avoided, %",
            "spread, %",
            f"{reference.NOTE} (A): million messages/s / idle CPU, %",
        ],
        rows,
        cells,
        absent,
        name,
    )
    table.notes.append(f"{reference.NOTE.capitalize()}: {reference.STRATEGIES_NOTE}")
    parts = [table]
    if rows:
        entries = [Bar(name(row), row["mmsg_per_s"], _strategy_text(row), OURS) for row in rows]
        chart = bars("Throughput by strategy", entries, label="million messages/s", text=plain, log=False)
        parts.insert(0, Chart("strategies", "Throughput and idle CPU of each strategy", chart))
    text = (
        "How the sides of a channel wait, and when they wake each other. Throughput: higher is better; "
        "idle CPU, of a receiver that waits for nothing: lower is better."
    )
    return [Section("strategies", "Strategies", text, parts)]


def _strategy_text(row):
    return f"{significant(row['mmsg_per_s'])} (idle CPU {hundredths(row['idle_cpu_percent'])} %)"


def spin_sweep(results):
    rows = sorted(
        (row for row in results.of("spin-sweep") if "spin_limit" in row),
        key=lambda row: row["spin_limit"],
    )
    spinning = [row for row in results.of("spin-sweep") if "spin_limit" not in row]
    absent = results.unsupported("spin-sweep")
    if not rows and not spinning and not absent:
        return []
    most = spinning[0]["mmsg_per_s"] if spinning else 0

    def name(row):
        return f"{row['spin_limit']:,}" if "spin_limit" in row else "pure spinning"

    def cells(row):
        theirs = reference.SPIN_SWEEP.get(row.get("spin_limit"))
        if "spin_limit" not in row:
            theirs = reference.SPIN_ONLY
        return [
            name(row),
            figure(row, "spin_limit_ns", whole),
            significant(row["mmsg_per_s"]),
            f"{100 * row['mmsg_per_s'] / most:.0f}" if most else "",
            figure(row, "kicks", whole),
            figure(row, "kicks_avoided_percent", percent),
            figure(row, "sleeps", whole),
            spread(row),
            f"{theirs} ({100 * theirs / reference.SPIN_ONLY:.0f} %)" if theirs else "",
        ]

    table = listed(
        [
            "spin limit, looks at the ring",
            "ns",
            "million messages/s",
            "% of pure spinning",
            "kicks",
            "kicks avoided, %",
            "sleeps",
            "spread, %",
            f"{reference.NOTE} (A): million messages/s (% of its pure spinning)",
        ],
        rows + spinning,
        cells,
        absent,
        name,
    )
    parts = [table]
    if any(row["spin_limit"] > 0 for row in rows):
        parts.insert(0, _spin_chart([row for row in rows if row["spin_limit"] > 0], most))
    text = (
        "Throughput of a channel whose sides look at the ring so many times before they sleep. Flat is "
        "good: then the limit needs no tuning. The dashed line is the reference, in % of its own pure "
        "spinning."
    )
    return [Section("spin-sweep", "Spin limit", text, parts)]


def _spin_chart(rows, most):
    scale = 100 / most if most else 1
    points = [(row["spin_limit"], scale * row["mmsg_per_s"]) for row in rows]
    series = [Line("channel", points, OURS, LOOKS[OURS].line, "o")]
    y_label = "million messages/s"
    if most:
        y_label = "throughput, % of pure spinning"
        ends = [(points[0][0], 100), (points[-1][0], 100)]
        series.append(Line(f"pure spinning, {significant(most)} M/s", ends, LIMIT, LOOKS[LIMIT].line))
        theirs = [(limit, 100 * rate / reference.SPIN_ONLY) for limit, rate in reference.SPIN_SWEEP.items()]
        series.append(Line("A, other machine", theirs, KERNEL, LOOKS[KERNEL].line))
    chart = lines(
        "Throughput by spin limit",
        series,
        x_label="spin limit, looks at the ring (log)",
        y_label=y_label,
        x_text=plain,
        y_text=plain,
        x_log=10,
        y_log=False,
        y_from=0,
        families=False,
    )
    return Chart("spin-sweep", "Throughput by spin limit, beside pure spinning", chart)


def scale(results):
    rows = sorted(results.of("scale"), key=lambda row: (row["channels"], row["busy_channels"]))
    absent = results.unsupported("scale")
    if not rows and not absent:
        return []
    one_busy = [row for row in rows if row["busy_channels"] == 1]
    # With a single channel both are the same.
    all_busy = [row for row in rows if row["busy_channels"] == row["channels"]]
    parts = []
    for title, chosen, chart in (
        ("one busy, the others idle", one_busy, _idle_beside),
        ("all busy", all_busy, _all_busy),
    ):
        if len({row["channels"] for row in chosen}) > 1:
            parts.append(chart(chosen))
        if chosen:
            parts.append(_scale_table(title, chosen))
    if absent:
        parts.append(refusals(absent, names(absent)))
    text = (
        "One server process with all its channels in one io_context echoes 64-byte messages. What idle "
        "channels cost the busy one, and what the server does in all."
    )
    return [Section("scale", "Many channels", text, parts)]


def _name_of_scale(rows):
    short = names([{**row, "channels": f"{row['channels']:,}"} for row in rows], "channels")
    return lambda row: short({**row, "channels": f"{row['channels']:,}"})


def _scale_table(title, rows):
    name = _name_of_scale(rows)
    return listed(
        [
            f"channels, {title}",
            "round trip p50, ns",
            "p99, ns",
            "p50 to that of one channel",
            "million echoes/s in all",
            "spread, %",
        ],
        rows,
        lambda row: [
            name(row),
            whole(row["rtt_p50_ns"]),
            whole(row["rtt_p99_ns"]),
            figure(row, "vs_one", times),
            significant(row["mmsg_per_s"]),
            spread(row),
        ],
        [],
        name,
    )


def _points(rows, key):
    return sorted({row["channels"]: row[key] for row in rows if row[key] > 0 and row["channels"] > 0}.items())


def _idle_beside(rows):
    look = LOOKS[OURS]
    series = [
        Line("p50", _points(rows, "rtt_p50_ns"), OURS, look.line, "o"),
        Line("p99", _points(rows, "rtt_p99_ns"), OURS, "#56B4E9", "s"),
    ]
    chart = lines(
        "One busy channel beside idle ones",
        [line for line in series if line.points],
        x_label="channels, all but one idle (log)",
        y_label="round trip of the busy one (log)",
        x_text=plain,
        y_text=time_text,
    )
    return Chart("scale-one-busy", "Round trip of one busy channel by the number of idle ones", chart)


def _all_busy(rows):
    series = [Line("all echoes", _points(rows, "mmsg_per_s"), OURS, LOOKS[OURS].line, "o")]
    chart = lines(
        "All channels busy",
        series,
        x_label="channels, all busy (log)",
        y_label="million echoes/s in all",
        x_text=plain,
        y_text=plain,
        y_log=False,
        y_from=0,
    )
    return Chart("scale-all-busy", "Echoes per second by the number of busy channels", chart)
