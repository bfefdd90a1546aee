# Copyright (c) 2026 the sysipc_asio authors.
# Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

"""Tables of results, with what a transport can't do named once."""

from .document import Table
from .rows import supported
from .units import bytes_text

NONE = "–"


class Results:
    def __init__(self, rows):
        self.rows = rows

    def of(self, bench, **wanted):
        return [row for row in self._all(bench, wanted) if supported(row)]

    def unsupported(self, bench, **wanted):
        return [row for row in self._all(bench, wanted) if not supported(row)]

    def _all(self, bench, wanted):
        return [
            row
            for row in self.rows
            if row["bench"] == bench and all(row.get(k) == v for k, v in wanted.items())
        ]


def figure(row, key, text):
    """A cell: empty if the row has no such figure."""
    return text(row[key]) if key in row else ""


def spread(row):
    """A single run has none."""
    if row.get("repeat") == 1:
        return ""
    return figure(row, "spread_percent", lambda value: f"{value:.0f}")


def refusal(row):
    return f"not supported: {row['reason']}"


def listed(headings, rows, cells, absent, name):
    """A line for each of `rows`, and below one for each name in `absent`."""
    table = Table(headings, [cells(row) for row in rows])
    for text in dict.fromkeys((name(row), refusal(row)) for row in absent):
        table.rows.append(list(text))
    return table.without_empty_columns()


def refusals(absent, name):
    return listed(["transport", ""], [], None, absent, name)


def by_size(corner, rows, absent, key, text, name):
    """A line for each name, a column for each size."""
    sizes = sorted({row["size"] for row in rows})
    found = {(name(row), row["size"]): text(row[key]) for row in rows}
    marks = Footnotes(absent, name)
    table = Table([corner, *(bytes_text(size) for size in sizes)], [])
    present = list(dict.fromkeys(name(row) for row in rows))
    for line in present:
        cells = (found.get((line, size)) or marks.cell(line, size) for size in sizes)
        table.rows.append([line, *cells])
    whole = [row for row in absent if name(row) not in present]
    for text_pair in dict.fromkeys((name(row), refusal(row)) for row in whole):
        table.rows.append(list(text_pair))
    table.notes = marks.notes()
    return table


class Footnotes:
    """For what is not supported at some sizes: a mark for each name and reason."""

    def __init__(self, absent, name):
        self._of = {(name(row), row["size"]): (name(row), refusal(row)) for row in absent}
        self._used = {}

    def cell(self, name, size):
        note = self._of.get((name, size))
        if note is None:
            return NONE
        self._used.setdefault(note, len(self._used) + 1)
        return NONE + _raised(self._used[note])

    def notes(self):
        result = []
        for note, number in self._used.items():
            sizes = sorted(size for (_, size), other in self._of.items() if other == note)
            extent = bytes_text(sizes[0])
            if len(sizes) > 1:
                extent += f" to {bytes_text(sizes[-1])}"
            result.append(f"{_raised(number)} {note[0]}, {extent}: {note[1]}")
        return result


def _raised(number):
    return str(number).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
