# Copyright (c) 2026 the sysipc_asio authors.
# Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

"""What belongs to whom, and how it looks: ours blue, the kernel's grey, other libraries orange."""

from dataclasses import dataclass

OURS = "sysipc_asio"
PEERS = "other libraries"
KERNEL = "kernel: sockets, pipes, …"
LIMIT = "limit of the hardware"

FAMILIES = {
    OURS: (
        "ring",
        "channel-consume",
        "channel",
        "channel-callback",
        "channel-sync",
        "doorbell",
        "loan",
        "send",
    ),
    PEERS: ("zmq", "nng", "interprocess-mq", "lockfree-spsc"),
    KERNEL: (
        "uds",
        "uds-seqpacket",
        "uds-asio",
        "tcp-asio",
        "pipe",
        "futex",
        "eventfd",
        "mq",
        "poll",
    ),
}
ORDER = [transport for members in FAMILIES.values() for transport in members]


@dataclass(frozen=True)
class Look:
    line: str
    text: str  # dark enough to read
    bar: str
    dash: object
    width: float


# Of Okabe and Ito's palette, for all kinds of colour vision.
LOOKS = {
    OURS: Look("#0072B2", "#004c78", "#0072B2", "-", 2.2),
    PEERS: Look("#D55E00", "#9c4400", "#E69F00", (0, (6, 2)), 1.5),
    KERNEL: Look("#7f7f7f", "#4d4d4d", "#a6a6a6", (0, (2, 1.5)), 1.5),
    LIMIT: Look("#999999", "#666666", "#dddddd", ":", 1.2),
}
# Within a family: lighter and darker, by turns, with a marker for each.
SHADES = {
    OURS: ("#003f66", "#56B4E9", "#0072B2", "#3f8fc4", "#7cc4ec"),
    PEERS: ("#D55E00", "#E69F00", "#a33c00", "#f0b64d"),
    KERNEL: ("#4d4d4d", "#8c8c8c", "#666666", "#a6a6a6", "#737373"),
}
MARKERS = "osD^vPX*<"


def family_of(transport):
    for family, members in FAMILIES.items():
        if transport in members:
            return family
    return PEERS


def colour_of(transport):
    shades = SHADES[family_of(transport)]
    return shades[_place(transport) % len(shades)]


def marker_of(transport):
    return MARKERS[_place(transport) % len(MARKERS)]


def _place(transport):
    members = FAMILIES[family_of(transport)]
    return members.index(transport) if transport in members else len(members)


def order(transport):
    """To sort by: ours first."""
    return ORDER.index(transport) if transport in ORDER else len(ORDER)


def names(rows, main="transport", others=("policy", "backend", "fence", "capacity", "inline_limit")):
    """A function from a row to its name: `main`, and in brackets what tells it apart from those
    of `rows` that have the same."""
    values = {}
    for row in rows:
        for key in others:
            values.setdefault((row[main], key), set()).add(row.get(key))

    def name(row):
        more = [str(row[k]) for k in others if k in row and len(values[row[main], k]) > 1]
        return f"{row[main]} ({', '.join(more)})" if more else row[main]

    return name
