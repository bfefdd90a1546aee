#!/usr/bin/python3
# Copyright (c) 2026 the sysipc_asio authors.
# Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

"""bench/compare, on made-up results."""

import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays clean

import sample_results
from script import MALFORMED, run, write, write_malformed


def change(rows, bench, figure, factor, **wanted):
    """A copy of the rows in which one, the only one that is wanted, has another figure."""
    (chosen,) = [i for i, row in enumerate(rows) if row["bench"] == bench and row.items() >= wanted.items()]
    result = [dict(row) for row in rows]
    result[chosen][figure] *= factor
    return result


class Compare(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.rows = sample_results.everything()

    def compare(self, old, new, *options):
        """@returns the status, and all lines."""
        files = write(self.folder / "old.json", old), write(self.folder / "new.json", new)
        status, out, errors = run("compare", *files, *options)
        self.assertEqual(errors, "")
        return status, out.splitlines()

    def assert_marked(self, old, new, better, worse, *options):
        """That these rows are marked, and no others. Given by how their lines begin."""
        status, lines = self.compare(old, new, *options)
        for verdict, expected in (("better", better), ("WORSE", worse)):
            marked = [re.split(r"\s\s+", line)[0] for line in lines if line.endswith(verdict)]
            self.assertEqual(marked, expected)
        self.assertEqual(status, 1 if worse else 0)

    def test_the_same(self):
        for options in ((), ("--relative",)):
            self.assert_marked(self.rows, self.rows, [], [], *options)
        self.assert_marked([], [], [], [])

    def test_each_row_is_compared(self):
        _, lines = self.compare(self.rows, self.rows)
        measured = [row for row in self.rows if row.get("supported", True) and row["bench"] != "machine"]
        strategies = len(list(sample_results.strategies()))  # these by their idle CPU, too
        self.assertIn(f"{len(measured) + strategies} compared: 0 worse", lines[-1])

    def test_a_planted_change_is_marked_whichever_way_it_goes(self):
        for name, lower_is_better, *row, wanted in (
            ("limits bulk_lines", False, "limits", "mlines_per_s", {"metric": "bulk_lines"}),
            ("rtt uds size 64", True, "rtt", "rtt_p50_ns", {"transport": "uds", "size": 64}),
            ("throughput zmq size 8", False, "throughput", "mmsg_per_s", {"transport": "zmq", "size": 8}),
            (
                "strategies channel busy interprocess size 64",
                False,
                "strategies",
                "mmsg_per_s",
                {"strategy": "busy"},
            ),
            (
                "spin-sweep channel adaptive interprocess size 64 spin_limit 50",
                False,
                "spin-sweep",
                "mmsg_per_s",
                {"spin_limit": 50},
            ),
            (
                "wake uds-asio size 64 silence_ms 100",
                True,
                "wake",
                "rtt_p50_ns",
                {"transport": "uds-asio", "silence_ms": 100},
            ),
            (
                "payload nng full size 1024",
                False,
                "payload",
                "gib_per_s",
                {"transport": "nng", "receiver": "full", "size": 1024},
            ),
            ("ladder futex", True, "ladder", "p50_us", {"transport": "futex"}),
            (
                "idle channel busy interprocess",
                True,
                "idle",
                "cpu_percent",
                {"policy": "busy", "transport": "channel"},
            ),
            (
                "scale channel adaptive interprocess size 64 channels 4 busy_channels 4",
                True,
                "scale",
                "rtt_p50_ns",
                {"channels": 4, "busy_channels": 4},
            ),
        ):
            with self.subTest(name):
                more = change(self.rows, *row, 1.2, **wanted)
                better, worse = ([], [name]) if lower_is_better else ([name], [])
                self.assert_marked(self.rows, more, better, worse)
                self.assert_marked(more, self.rows, worse, better)
                within = change(self.rows, *row, 1.06, **wanted)  # the spread is 6.5 %
                self.assert_marked(self.rows, within, [], [])
                self.assert_marked(within, self.rows, [], [])

    def test_noise_is_the_greater_spread_and_at_least_five_percent(self):
        def row(p50, spread):
            return [
                sample_results.measured(bench="rtt", transport="uds", size=64, rtt_p50_ns=p50, rtt_p99_ns=p50)
                | {"spread_percent": spread}
            ]

        name = ["rtt uds size 64"]
        self.assert_marked(row(1000, 0), row(1049, 0), [], [])
        self.assert_marked(row(1000, 0), row(1051, 0), [], name)
        self.assert_marked(row(1000, 40), row(1390, 0), [], [])
        self.assert_marked(row(1000, 0), row(1390, 40), [], [])
        self.assert_marked(row(1000, 40), row(1410, 40), [], name)
        self.assert_marked(row(1410, 40), row(1000, 40), name, [])

    def test_little_cpu_is_no_cpu(self):
        def row(cpu):
            return [sample_results.measured(bench="idle", transport="uds", cpu_percent=cpu)]

        self.assert_marked(row(0), row(0.1), [], [])
        self.assert_marked(row(0.01), row(0.09), [], [])
        self.assert_marked(row(0), row(0.3), [], ["idle uds"])
        self.assert_marked(row(0.3), row(0), ["idle uds"], [])

    def test_idle_cpu_of_a_strategy(self):
        warm = change(self.rows, "strategies", "idle_cpu_percent", 100, strategy="adaptive")
        name = ["strategies channel adaptive interprocess size 64"]
        self.assert_marked(self.rows, warm, [], name)
        self.assert_marked(warm, self.rows, name, [])

    def test_relative_to_the_limits_a_slower_machine_is_no_regression(self):
        def slowed(row):
            times = {key: row[key] * 2 for key in row if key.endswith(("_ns", "_us"))}
            return (
                row | times | {key: row[key] / 2 for key in row if key.endswith("_per_s") and "sw" not in key}
            )

        slow = [slowed(row) for row in self.rows if row["bench"] != "payload" or row["transport"] != "loan"]
        status, lines = self.compare(self.rows, slow)
        self.assertEqual(status, 1)
        self.assertGreater(sum(line.endswith("WORSE") for line in lines), 300)
        self.assert_marked(self.rows, slow, [], [], "--relative")
        for row, name in (
            (("rtt", "vs_limit", 1.2), "rtt channel adaptive interprocess size 64"),
            (("wake", "rtt_p50_ns", 1.2), "wake channel sleepy interprocess size 64 silence_ms 0"),
        ):
            with self.subTest(name):
                wanted = {"transport": "channel", "size": 64} | (
                    {"silence_ms": 0} if row[0] == "wake" else {}
                )
                self.assert_marked(self.rows, change(slow, *row, **wanted), [], [name], "--relative")

    def test_relative_without_limits_is_absolute(self):
        without = [row for row in self.rows if row["bench"] == "ladder"]
        worse = change(without, "ladder", "p50_us", 2, transport="mq")
        self.assert_marked(without, worse, [], ["ladder mq"], "--relative")
        self.assert_marked(self.rows, worse, [], ["ladder mq"], "--relative")

    def test_rows_of_one_file_only_are_no_regression(self):
        ladder = list(sample_results.ladder())
        refused = [sample_results.refused("no such thing", bench="ladder", transport="futex"), *ladder[1:]]
        for old, new, expected in (
            (ladder, ladder[1:], ["only in OLD: ladder futex"]),
            (ladder[1:], ladder, ["only in NEW: ladder futex"]),
            (ladder, refused, ["only in OLD: ladder futex (NEW: not supported: no such thing)"]),
            (refused, ladder, ["only in NEW: ladder futex (OLD: not supported: no such thing)"]),
            (refused, refused, []),
        ):
            status, lines = self.compare(old, new)
            self.assertEqual(status, 0)
            self.assertEqual([line for line in lines if line.startswith("only")], expected)

    def test_length_and_cpus_of_a_run_do_not_matter_but_sharing_a_cpu_does(self):
        ladder = list(sample_results.ladder())
        shorter = [row | {"rounds": 10, "repeat": 1, "cpus": "2,3"} for row in ladder]
        self.assertIn(f"{len(ladder)} compared", self.compare(ladder, shorter)[1][-1])
        shared = [row | {"shared_cpu": True} for row in ladder]
        self.assertIn("0 compared", self.compare(ladder, shared)[1][-1])

    def test_another_machine_is_noted(self):
        other = [row | {"cpu": "another"} if row["bench"] == "machine" else row for row in self.rows]
        _, lines = self.compare(self.rows, other)
        self.assertEqual(lines[0], "note: cpu: AMD EPYC 7B13 in OLD, another in NEW")

    def test_rows_without_spread_are_noted(self):
        once = [row | {"repeat": 1, "spread_percent": 0} for row in sample_results.ladder()]
        _, lines = self.compare(once, list(sample_results.ladder()))
        self.assertEqual(lines[0], "note: 8 rows ran only once, so that their spread is not known")

    def test_malformed(self):
        good = write(self.folder / "good.json", self.rows)
        for name, content in MALFORMED.items():
            with self.subTest(name):
                bad = write_malformed(self.folder / "bad.json", content)
                self.assert_fails(good, bad)
                self.assert_fails(bad, good)

    def test_usage(self):
        good = write(self.folder / "good.json", self.rows)
        self.assert_fails()
        self.assert_fails(good)
        self.assert_fails(good, self.folder / "none.json")
        self.assert_fails(good, good, "--no-such-option")
        status, out, errors = run("compare", "--help")
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("spread_percent", out)

    def assert_fails(self, *arguments):
        status, out, errors = run("compare", *arguments)
        self.assertEqual((status, out), (2, ""))
        self.assertRegex(errors, r"\Acompare: .+\n\Z")


if __name__ == "__main__":
    unittest.main()
