# Copyright (c) 2026 the sysipc_asio authors.
# Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

"""Rows such as sysipc-bench writes, of every benchmark. The figures are made up."""

SIZES = (8, 64, 256, 1024, 4096, 16384, 65536)
KIB, MIB = 1024, 1024 * 1024
LARGE = (KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 8 * MIB, 16 * MIB, 64 * MIB)
RING = {"backend": "interprocess", "fence": "asymmetric", "capacity": 262144}

# ns at 64 bytes, p99 over p50, million messages/s at 64 bytes, GiB/s that cannot be exceeded.
TRANSPORTS = {
    "ring": (230, 1.5, 113, 11),
    "channel": (260, 9, 21.7, 9.5),
    "channel-consume": (None, None, 52, 10),
    "channel-callback": (17000, 2, 19.2, 9),
    "channel-sync": (255, 8.5, 23, 9.6),
    "uds": (18600, 2.4, 0.51, 2.1),
    "uds-seqpacket": (18900, 2.5, 0.53, 2.2),
    "uds-asio": (21200, 2.3, 0.30, 1.8),
    "tcp-asio": (33000, 2.2, 0.21, 1.3),
    "pipe": (17800, 2.2, 0.60, 1.7),
    "zmq": (52000, 1.9, 3.1, 1.9),
    "nng": (61000, 2.0, 0.12, 1.5),
    "interprocess-mq": (24000, 3.1, 1.2, 5),
    "lockfree-spsc": (290, 1.6, 31, 8),
}


def measured(**row):
    return {**row, "spread_percent": 6.5, "repeat": 5, "cpus": "0,1", "shared_cpu": False}


def refused(reason, **row):
    return {**row, "supported": False, "reason": reason}


def agreed(transport):
    if transport == "ring":
        return {**RING, "policy": "busy"}
    return {**RING, "policy": "adaptive"} if transport.startswith("channel") else {}


def limits():
    yield measured(
        bench="limits", metric="cacheline_pingpong", rtt_p50_ns=150, rtt_p99_ns=171, rtt_p999_ns=260
    )
    yield measured(bench="limits", metric="bulk_lines", mlines_per_s=232.1)
    for receiver, scale in (("sampled", 1.0), ("full", 0.55)):
        for slots in (2, 8):
            for size in LARGE:
                for metric, most in (("payload_in_place", 14), ("payload_fill_copy", 7)):
                    rate = scale * most * min(1, (size / (200 * KIB)) ** 0.35) * (1 + slots / 40)
                    yield measured(
                        bench="limits",
                        metric=metric,
                        slots=slots,
                        receiver=receiver,
                        size=size,
                        gib_per_s=round(rate, 3),
                    )


def rtt():
    for size in SIZES:
        for transport, (p50, tail, _, rate) in TRANSPORTS.items():
            if p50 is None:
                continue
            ns = round(p50 + 2 * max(0, size - 64) / rate)
            yield measured(
                bench="rtt",
                transport=transport,
                **agreed(transport),
                size=size,
                rounds=20000,
                rtt_p50_ns=ns,
                rtt_p99_ns=round(ns * tail),
                rtt_p999_ns=round(ns * tail * 2.5),
                vs_limit=round(ns / 150, 3),
            )


def throughput():
    for size in SIZES:
        for transport, (_, _, rate, most) in TRANSPORTS.items():
            mmsg = 1 / (1 / rate + max(0, size - 64) / (most * 1073.74))
            row = measured(
                bench="throughput",
                transport=transport,
                **agreed(transport),
                size=size,
                messages=3000000,
                mmsg_per_s=round(mmsg, 6),
                gib_per_s=round(mmsg * size / 1073.74, 4),
            )
            if agreed(transport):
                row |= {"kicks": 1, "kicks_avoided_percent": 99.9999, "sleeps": 1}
            if size == 64:
                row["vs_limit"] = round(mmsg / 232.1, 3)
            yield row


def strategies():
    common = {
        "bench": "strategies",
        "transport": "channel",
        "backend": "interprocess",
        "size": 64,
        "messages": 3000000,
    }
    for strategy, rate, cpu, kicks, avoided in (
        ("busy", 22.4, 99.98, 0, 100),
        ("kick_always", 1.9, 0.01, 3000000, 0),
        ("adaptive", 21.7, 0.02, 3, 99.9999),
    ):
        yield measured(
            **common,
            strategy=strategy,
            policy=strategy,
            mmsg_per_s=rate,
            idle_cpu_percent=cpu,
            kicks=kicks,
            kicks_avoided_percent=avoided,
            vs_busy=round(rate / 22.4, 3),
        )


def spin_sweep():
    common = {
        "bench": "spin-sweep",
        "transport": "channel",
        "backend": "interprocess",
        "size": 64,
        "messages": 3000000,
    }
    for limit, rate in (
        (10, 12.1),
        (50, 19.8),
        (100, 21.2),
        (500, 21.7),
        (1000, 21.4),
        (2000, 21.9),
        (5000, 21.6),
        (10000, 21.7),
    ):
        yield measured(
            **common,
            policy="adaptive",
            spin_limit=limit,
            spin_limit_ns=limit * 20,
            mmsg_per_s=rate,
            kicks=12000 // limit,
            kicks_avoided_percent=99.99,
            sleeps=13000 // limit,
        )
    yield measured(**common, policy="busy", mmsg_per_s=22.4, kicks=0, kicks_avoided_percent=100, sleeps=0)


def wake():
    def row(transport, silence, p50, **more):
        return measured(
            bench="wake",
            transport=transport,
            size=64,
            silence_ms=silence,
            rounds=2000,
            rtt_p50_ns=p50,
            rtt_p99_ns=round(p50 * 2.3),
            **more,
        )

    yield row("channel", 0, 16500, **RING, policy="sleepy")
    for transport, p50 in (
        ("uds", 18600),
        ("uds-asio", 21400),
        ("pipe", 17700),
        ("zmq", 52000),
        ("nng", 61000),
    ):
        yield row(transport, 0, p50)
    for silence, p50 in ((1, 31000), (100, 68000), (1000, 92000)):
        yield row("channel", silence, p50, **RING, policy="adaptive")
        yield row("uds-asio", silence, round(p50 * 1.2))


def payload():
    for receiver, scale in (("sampled", 1.0), ("full", 0.6)):
        for size in LARGE:
            for transport, most in (("send", 6.4), ("zmq", 1.7), ("nng", 1.3), ("uds", 2.2)):
                if transport == "send" and size > 128 * KIB:
                    yield refused(
                        "larger than the ring",
                        bench="payload",
                        transport=transport,
                        receiver=receiver,
                        size=size,
                    )
                    continue
                rate = scale * most * min(1, (size / (200 * KIB)) ** 0.45)
                row = measured(
                    bench="payload",
                    transport=transport,
                    receiver=receiver,
                    size=size,
                    messages=1000,
                    gib_per_s=round(rate, 3),
                )
                if transport == "send":
                    row["vs_limit"] = 0.6
                yield row
            yield refused(
                "this build has no loans", bench="payload", transport="loan", receiver=receiver, size=size
            )


def ladder():
    for transport, p50, p99 in (
        ("futex", 14.1, 31),
        ("pipe", 17.9, 41),
        ("eventfd", 17.2, 39),
        ("mq", 18.4, 44),
        ("uds", 19.3, 47),
        ("poll", 1063, 1104),
        ("doorbell", 14.9, 33),
        ("channel", 0.27, 2.3),
    ):
        yield measured(bench="ladder", transport=transport, rounds=2000, p50_us=p50, p99_us=p99)


def idle():
    for policy, cpu, switches in (
        ("busy", 99.97, 0.2),
        ("adaptive", 0.0, 0),
        ("sleepy", 0.0, 0),
        ("kick_always", 0.01, 0.2),
    ):
        yield measured(
            bench="idle",
            transport="channel",
            **RING,
            policy=policy,
            seconds=5,
            cpu_percent=cpu,
            voluntary_switches_per_s=switches,
            involuntary_switches_per_s=4.2 if cpu > 50 else 0,
        )
    for transport, cpu, switches in (
        ("ring", 100, 0),
        ("uds", 0, 0),
        ("uds-asio", 0.0, 0),
        ("zmq", 0.02, 1.4),
        ("nng", 0.03, 2),
    ):
        yield measured(
            bench="idle",
            transport=transport,
            seconds=5,
            cpu_percent=cpu,
            voluntary_switches_per_s=switches,
            involuntary_switches_per_s=0,
        )
    yield refused("nothing to wait on", bench="idle", transport="lockfree-spsc")


def scale():
    for busy in ("one", "all"):
        for channels in (1, 2, 4, 8, 16, 32, 64, 128, 256):
            if busy == "all" and channels == 1:
                continue
            p50 = 290 + channels / 16 if busy == "one" else 260 * channels
            yield measured(
                bench="scale",
                transport="channel",
                **RING,
                policy="adaptive",
                size=64,
                channels=channels,
                busy_channels=1 if busy == "one" else channels,
                rtt_p50_ns=round(p50),
                rtt_p99_ns=round(p50 * 4),
                mmsg_per_s=round((1 if busy == "one" else channels) * 1000 / p50, 4),
                vs_one=round(p50 / 290, 3),
            )


def machine():
    yield {
        "bench": "machine",
        "cpu": "AMD EPYC 7B13",
        "logical_cpus": 2,
        "kernel": "Linux 6.18.5",
        "compiler": "g++ 12.2.0",
        "boost": "1.81.0",
        "virtual": "KVM",
        "date": "2026-11-30T22:00:00Z",
        "version": "0.1.0",
        "driver": False,
    }


BENCHES = (limits, rtt, throughput, strategies, spin_sweep, wake, payload, ladder, idle, scale, machine)


def everything():
    return [row for bench in BENCHES for row in bench()]
