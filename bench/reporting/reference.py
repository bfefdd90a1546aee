# Copyright (c) 2026 the sysipc_asio authors.
# Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

"""Published figures of three other systems, each from a machine of its own: for the
tables, in a column that says so. They are no basis for a ratio with ours."""

from .units import KIB, MIB

NOTE = "reference, other machine"

SYSTEMS = {
    "A": "sysipc, a character driver with a ring in C, on Linux 6.8; 64-byte messages, medians of 20 runs",
    "B": "shm://, a shared-memory transport for libzmq (draft): PAIR on two Xeon 8352V cores of one "
    "node; the sender writes the whole payload",
    "C": "shmkv v1, a seqlock and a futex on a shared page; 2,000 serialized rounds",
}

# A: ns.
RTT_64 = {"ring": (252, 384), "uds": (10_900, 55_700)}
# A: million messages/s.
THROUGHPUT_64 = {"ring": 23.3, "uds": 1.62}
# A: million messages/s, idle CPU in %.
STRATEGIES = {"busy": (24.06, "~100"), "kick_always": (3.46, "~0.3"), "adaptive": (17.3, "~0.3")}
STRATEGIES_NOTE = (
    "A: polling, with a conditional kick and an adaptive spin, reached 72 % of spinning only and "
    "avoided 99.2 % of the kicks."
)
# A: million messages/s by spin limit.
SPIN_SWEEP = {
    10: 6.37,
    50: 14.5,
    100: 17.06,
    500: 17.3,
    1000: 16.7,
    2000: 17.91,
    5000: 17.11,
    10000: 17.2,
}
SPIN_ONLY = STRATEGIES["busy"][0]

# B: GiB/s by receiver and size, in the order of the headings.
PAYLOAD_HEADINGS = ("ipc", "regular", "direct")
PAYLOAD = {
    "sampled": {
        1 * KIB: ("1.052", "0.163", "0.076"),
        64 * KIB: ("2.217", "4.203", "7.269"),
        1 * MIB: ("2.032", "4.135", "16.283"),
        8 * MIB: ("1.507", "4.881", "15.007"),
    },
    "full": {
        1 * KIB: ("0.627", "0.200", "0.125"),
        64 * KIB: ("1.457", "2.334", "2.488"),
        1 * MIB: ("2.504", "2.999", "3.429"),
        8 * MIB: ("1.959", "3.137", "3.341"),
    },
}
# B once more, choosing between a socket and shared memory by size ("auto"): another run.
AUTO_HEADINGS = ("ipc", "socket", "shared", "auto")
AUTO = {
    "sampled": {
        1 * KIB: ("0.965", "1.013", "0.122", "0.912"),
        16 * KIB: ("1.587", "1.503", "1.642", "1.506"),
        64 * KIB: ("2.204", "2.167", "2.610", "3.348"),
        256 * KIB: ("2.484", "2.494", "4.030", "3.953"),
        1 * MIB: ("2.752", "2.759", "4.953", "3.554"),
        4 * MIB: ("2.339", "2.581", "4.952", "4.861"),
        8 * MIB: ("2.248", "2.474", "5.051", "4.955"),
        16 * MIB: ("2.411", "2.460", "N/A", "2.368"),
    },
    "full": {
        1 * KIB: ("0.921", "0.937", "0.129", "0.927"),
        16 * KIB: ("1.610", "1.538", "2.030", "1.529"),
        64 * KIB: ("1.989", "2.005", "2.225", "2.355"),
        256 * KIB: ("2.249", "2.221", "2.191", "2.155"),
        1 * MIB: ("2.600", "2.512", "2.930", "2.707"),
        4 * MIB: ("2.343", "2.575", "3.120", "3.080"),
        8 * MIB: ("2.214", "2.544", "3.125", "3.203"),
        16 * MIB: ("2.344", "2.430", "N/A", "2.466"),
    },
}

# C: us.
LADDER = {
    "futex": ("< 1", "4"),
    "pipe": ("2", "5"),
    "eventfd": ("2", "6"),
    "mq": ("2", "14"),
    "uds": ("3", "12"),
    "poll": ("1,056", "1,083"),
}
IDLE_NOTE = (
    "C: with 2 updates/s, a watcher parked on its futex made 8 voluntary context switches in 4 s; one "
    "that polled every ms, 3,774."
)
