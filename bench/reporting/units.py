# Copyright (c) 2026 the sysipc_asio authors.
# Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

"""Figures as people write them."""

import math

KIB = 1024
MIB = 1024 * KIB


def bytes_text(size):
    for unit, name in ((MIB, "MiB"), (KIB, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit:,} {name}"
    return f"{size:,} B"


def significant(value, digits=3):
    """With so many significant digits, or all before the point if these are more."""
    if value == 0:
        return "0"
    decimals = max(digits - 1 - math.floor(math.log10(abs(value))), 0)
    return f"{value:,.{decimals}f}"


def time_text(ns):
    """With the unit that suits it."""
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= unit:
            return f"{_without_zeros(significant(ns / unit))} {name}"
    return f"{_without_zeros(significant(ns))} ns"


def plain(value):
    """For the ticks of an axis."""
    return _without_zeros(significant(value))


def _without_zeros(text):
    return text.rstrip("0").rstrip(".") if "." in text else text


def whole(value):
    return f"{value:,.0f}"


def hundredths(value):
    return f"{value:.2f}"


def percent(value):
    """What lacks to 100 is what counts."""
    return f"{value:.4f}" if 99 < value < 100 else f"{value:.2f}"


def times(value):
    return f"{significant(value)}×"
