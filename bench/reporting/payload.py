# Copyright (c) 2026 the sysipc_asio authors.
# Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

"""Large messages, by receiver."""

from . import reference
from .charts import Line, lines
from .comparisons import lines_of
from .document import Chart, Section, Table
from .tables import Footnotes
from .transports import LIMIT, LOOKS, names, order
from .units import bytes_text, plain, significant

RECEIVERS = {"sampled": "sampled by the receiver", "full": "read in full by the receiver"}
LIMITS = {"payload_in_place": "in place", "payload_fill_copy": "fill, then copy"}


def payload(results):
    rows = results.of("payload") + results.unsupported("payload") + _limits(results)
    present = {row["receiver"] for row in rows}
    return [_section(results, receiver) for receiver in RECEIVERS if receiver in present]


def _limits(results, **wanted):
    rows = [row for row in results.of("limits", **wanted) if row["metric"] in LIMITS]
    return sorted(rows, key=lambda row: (list(LIMITS).index(row["metric"]), row["slots"]))


def _limit_name(row):
    return f"limit: {LIMITS[row['metric']]}, {row['slots']} slots"


def _section(results, receiver):
    rows = results.of("payload", receiver=receiver)
    absent = results.unsupported("payload", receiver=receiver)
    ours = sorted(rows + absent, key=lambda row: order(row["transport"]))
    name = names(ours)
    limits = _limits(results, receiver=receiver)
    parts = [_table(receiver, ours, rows, absent, limits, name)]
    title = f"Large messages, {RECEIVERS[receiver]}"
    series = lines_of(sorted(rows, key=lambda row: order(row["transport"])), "gib_per_s", name)
    series += _limit_lines(limits)
    if series:
        chart = lines(
            title,
            series,
            x_label="message size (log)",
            y_label="GiB/s (log)",
            x_text=bytes_text,
            y_text=plain,
        )
        parts.insert(0, Chart(f"payload-{receiver}", f"{title}: GiB/s by size", chart))
    text = (
        "The sender writes the whole payload of each message. Limits: the payload written in place, or "
        "filled in private memory and then copied, into so many slots. Higher is better."
    )
    return Section(f"payload-{receiver}", title, text, parts)


def _table(receiver, ours, rows, absent, limits, name):
    """A line for each size, since the reference is a column."""
    columns = list(dict.fromkeys([*map(name, ours), *map(_limit_name, limits)]))
    found = {(name(row), row["size"]): significant(row["gib_per_s"]) for row in rows}
    found |= {(_limit_name(row), row["size"]): significant(row["gib_per_s"]) for row in limits}
    of_reference = _reference(receiver)
    marks = Footnotes(absent, name)
    headings = ["GiB/s by size", *columns, *(title for title, _ in of_reference)]
    table = Table(headings, [])
    for size in sorted({row["size"] for row in ours + limits}):
        cells = [found.get((column, size)) or marks.cell(column, size) for column in columns]
        theirs = [" / ".join(figures.get(size, ())) for _, figures in of_reference]
        table.rows.append([bytes_text(size), *cells, *theirs])
    table.notes = marks.notes()
    return table.without_empty_columns()


def _reference(receiver):
    return [
        (f"{reference.NOTE} (B): {' / '.join(headings)}", figures.get(receiver, {}))
        for headings, figures in (
            (reference.PAYLOAD_HEADINGS, reference.PAYLOAD),
            (reference.AUTO_HEADINGS, reference.AUTO),
        )
    ]


def _limit_lines(limits):
    series = {}
    for row in limits:
        if row["gib_per_s"] > 0 and row["size"] > 0:
            series.setdefault(_limit_name(row), []).append((row["size"], row["gib_per_s"]))
    return [Line(name, sorted(points), LIMIT, LOOKS[LIMIT].line) for name, points in series.items()]
