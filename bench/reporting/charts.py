# Copyright (c) 2026 the sysipc_asio authors.
# Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

"""The two kinds of charts: lines with their names beside them, and horizontal bars."""

import io
import math
from dataclasses import dataclass

import matplotlib
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from .transports import LOOKS, OURS

INK = "#333333"
WIDTH = 8.6  # inches, of every chart
POINTS = 72 * WIDTH
STYLE = {
    "svg.fonttype": "none",  # text stays text: small, and it can be selected
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "font.size": 10,
    "axes.edgecolor": "#888888",
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11.5,
    "axes.titleweight": "bold",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.8,
    "path.simplify": False,
}


@dataclass
class Line:
    name: str
    points: list  # of (x, y)
    family: str
    colour: str
    marker: str = ""


@dataclass
class Bar:
    name: str
    value: float
    text: str
    family: str
    to: float = 0.0  # the end of the whisker, if there is one
    group: str = ""


def svg(chart):
    """The text of its file; the same for the same results."""
    out = io.StringIO()
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": chart.name}):
        chart.figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def lines(
    title, series, *, x_label, y_label, x_text, y_text, x_log=2, y_log=True, y_from=None, families=True
):
    """Each line has its name at its right end. `families`: a legend says whose they are."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 5.2))
        names = max(_width(line.name, line.family) for line in series)
        axes = figure.add_axes([0.105, 0.115, 0.83 - (names + 4) / POINTS, 0.775])
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        if x_log:
            axes.set_xscale("log", base=x_log)
        if y_log:
            axes.set_yscale("log")
        for line in series:
            look = LOOKS[line.family]
            axes.plot(
                *zip(*line.points),
                color=line.colour,
                linestyle=look.dash,
                linewidth=look.width,
                marker=line.marker,
                markersize=5,
                zorder=3 if line.family == OURS else 2,
            )
        _widen(axes, series, y_log, y_from)
        places = sorted({x for line in series for x, _ in line.points})
        axes.xaxis.set_major_locator(FixedLocator(_thinned(places, x_log)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: x_text(x)))
        _format_values(axes.yaxis, y_log, y_text)
        axes.grid(True)
        axes.set_axisbelow(True)
        _name_lines(axes, series)
        _entitle(axes, title, [line.family for line in series] if families else [], _line_handle)
    return figure


def bars(title, entries, *, label, text, log=True, end=None):
    """One below the other, as given, each with its text at its end. `end`: where a linear axis
    ends. Consecutive bars of one group get its heading."""
    places, headings, below = _arrange(entries)
    height = 1.35 + 0.3 * below
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, height))
        left = (
            14 / POINTS
            + max(
                *(_width(bar.name, size=10) for bar in entries),
                *(_width(group, OURS, 10) for _, group in headings),
                0,
            )
            / POINTS
        )
        axes = figure.add_axes([left, 0.6 / height, 0.98 - left, 1 - 1.25 / height])
        axes.set_xlabel(label)
        first, last = _extent(entries, log, end, (0.98 - left) * POINTS)
        if log:
            axes.set_xscale("log")
        axes.set_xlim(first, last)
        for at, bar in zip(places, entries):
            _draw_bar(axes, at, bar, first)
        for at, heading in headings:
            axes.annotate(
                heading,
                (0, at),
                xytext=(-4, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                xycoords=axes.get_yaxis_transform(),
                fontweight="bold",
                annotation_clip=False,
            )
        axes.set_ylim(below - 0.4, -0.6)
        axes.set_yticks(places, [bar.name for bar in entries])
        axes.tick_params(axis="y", length=0)
        _format_values(axes.xaxis, log, text)
        if end is not None:
            axes.set_xticks([tick for tick in axes.get_xticks() if tick <= end])
        axes.grid(True, axis="x")
        axes.set_axisbelow(True)
        _entitle(axes, title, [bar.family for bar in entries], _bar_handle)
    return figure


def _width(text, family=None, size=9.0):
    """In points."""
    weight = "bold" if family == OURS else "normal"
    font = FontProperties(family="DejaVu Sans", weight=weight, size=size)
    return text_to_path.get_text_width_height_descent(text, font, ismath=False)[0]


def _arrange(entries):
    """The places of the bars, places and texts of the headings, and where all ends."""
    places, headings, below, group = [], [], 0.0, ""
    for bar in entries:
        if bar.group != group:
            below += 0.3 if places else 0
            headings.append((below, bar.group))
            below += 1
            group = bar.group
        places.append(below)
        below += 1
    return places, headings, below


def _draw_bar(axes, at, bar, first):
    look = LOOKS[bar.family]
    axes.barh(at, max(bar.value, first) - first, left=first, height=0.66, color=look.bar)
    if bar.to > bar.value:
        axes.plot([bar.value, bar.to], [at, at], color=look.text, linewidth=1, zorder=3)
        axes.plot([bar.to] * 2, [at - 0.16, at + 0.16], color=look.text, linewidth=1, zorder=3)
    axes.annotate(
        bar.text,
        (max(bar.value, bar.to, first), at),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
        fontsize=9,
        color=look.text,
        fontweight="bold" if bar.family == OURS else "normal",
    )


def _extent(entries, log, end, width):
    """Of an axis so wide, with room for the texts right of the bars."""
    least = min((bar.value for bar in entries if bar.value > 0), default=1.0)
    first = 10 ** math.floor(math.log10(least / 1.15)) if log else 0.0

    def up_to(value):
        return math.log10(max(value, first) / first) if log else value

    reach = end or up_to(10 * first if log else least)
    for bar in entries:
        room = width - 10 - _width(bar.text, bar.family)
        reach = max(reach, up_to(max(bar.value, bar.to)) * width / room)
    return first, first * 10**reach if log else reach


def _widen(axes, series, y_log, y_from):
    values = [y for line in series for _, y in line.points]
    if y_from is not None:
        axes.set_ylim(y_from, 1.08 * max(values) or 1)
    elif y_log:
        least, most = min(values), max(values)
        margin = max((most / least) ** 0.05, 1.15)
        axes.set_ylim(least / margin, most * margin)


def _thinned(places, x_log):
    """Ticks whose texts don't touch."""
    if not x_log or len(places) < 2:
        return places
    width = math.log(places[-1] / places[0])
    result = places[:1]
    for place in places[1:]:
        if math.log(place / result[-1]) >= 0.085 * width:
            result.append(place)
    return result


def _format_values(axis, log, text):
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
    if not log:
        return
    low, high = sorted(axis.get_view_interval())
    decades = math.log10(high / low)
    steps = (1, 2, 3, 5, 7) if decades < 1 else (1, 2, 5) if decades < 2.5 else (1,)
    axis.set_major_locator(LogLocator(subs=steps, numticks=30))
    axis.set_minor_locator(NullLocator())


def _name_lines(axes, series):
    """Apart from each other, with a thin line from each to its own."""
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = sorted(((to_axes.transform(line.points[-1])[1], line) for line in series), key=lambda e: e[0])
    heights = _apart([height for height, _ in ends], 0.045)
    last = max(line.points[-1][0] for line in series)
    for (_, line), height in zip(ends, heights):
        axes.annotate(
            line.name,
            line.points[-1],
            xytext=(1.06, height),
            textcoords="axes fraction",
            va="center",
            fontsize=9,
            color=LOOKS[line.family].text,
            annotation_clip=False,
            fontweight="bold" if line.family == OURS else "normal",
            arrowprops={
                "arrowstyle": "-",
                "color": line.colour,
                "linewidth": 0.7,
                "shrinkA": 1,
                "shrinkB": 4,
                "relpos": (0, 0.5),
                "linestyle": "-" if line.points[-1][0] == last else ":",
            },
        )


def _apart(heights, gap):
    """Heights in the same order and near these, a gap apart, beside the axes."""
    room = max(0.99, gap * (len(heights) - 1))
    result = [min(height, room) for height in heights]
    for _ in range(500):  # pushes neighbours apart by halves
        for i in range(1, len(result)):
            lack = max(gap - (result[i] - result[i - 1]), 0)
            result[i - 1] -= lack / 2
            result[i] += lack / 2
        result[-1] = min(result[-1], room)
        result[0] = max(result[0], 0.0)
    return result


def _entitle(axes, title, families, handle):
    """With a legend of the families, if there are several."""
    present = [family for family in LOOKS if family in families]
    figure = axes.figure
    legend = len(present) > 1
    top = axes.get_position().y1 + (0.36 if legend else 0.14) / figure.get_figheight()
    figure.text(0.012, top, title, fontsize=11.5, fontweight="bold", va="bottom")
    if legend:
        figure.legend(
            handles=[handle(family) for family in present],
            loc="lower left",
            bbox_to_anchor=(0.012, axes.get_position().y1),
            ncol=len(present),
            frameon=False,
            fontsize=9,
            borderaxespad=0.5,
            borderpad=0,
            handlelength=2.2,
            columnspacing=1.6,
        )


def _line_handle(family):
    look = LOOKS[family]
    return Line2D([], [], color=look.line, linestyle=look.dash, linewidth=look.width, label=family)


def _bar_handle(family):
    return Patch(color=LOOKS[family].bar, label=family)
