#!/usr/bin/python3
# Copyright (c) 2026 the sysipc_asio authors.
# Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

"""bench/report.py, on made-up results."""

import contextlib
import html.parser
import importlib.util
import io
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays clean

import sample_results
from script import BENCH, MALFORMED, run, write, write_malformed

# The sections of each benchmark.
SECTIONS = {
    "limits": {"limits", "payload-sampled", "payload-full"},
    "rtt": {"rtt-64", "rtt-by-size"},
    "throughput": {"throughput-64", "throughput-by-size"},
    "strategies": {"strategies"},
    "spin_sweep": {"spin-sweep"},
    "wake": {"wake"},
    "payload": {"payload-sampled", "payload-full"},
    "ladder": {"ladder"},
    "idle": {"idle"},
    "scale": {"scale"},
    "machine": {"machine"},
}
# What each chart must show.
SENDERS = {name for name, figures in sample_results.TRANSPORTS.items()}
CALLERS = {name for name, figures in sample_results.TRANSPORTS.items() if figures[0]}
SIZES = {"8 B", "64 B", "1 KiB", "64 KiB", "message size (log)"}
LIMITS = {f"limit: {how}, {slots} slots" for how in ("in place", "fill, then copy") for slots in (2, 8)}
PAYLOAD = {"send", "zmq", "nng", "uds", "1 KiB", "64 MiB", "GiB/s (log)"} | LIMITS
LABELS = {
    "rtt-64": CALLERS | {"limit: a cache line", "230 ns (p99 345 ns)", "18.6 µs (p99 44.6 µs)", "1 µs"},
    "rtt-by-size": CALLERS | SIZES | {"limit: a cache line", "round trip p50 (log)", "10 µs"},
    "throughput-64": SENDERS | {"limit: bulk lines", "113", "0.510", "million messages/s (log)"},
    "throughput-by-size": SENDERS | SIZES | {"million messages/s (log)"},
    "strategies": {"busy: spin only", "22.4 (idle CPU 99.98 %)", "million messages/s"},
    "spin-sweep": {"channel", "pure spinning, 22.4 M/s", "A, other machine", "100", "10,000"},
    "wake": {
        "channel (sleepy)",
        "channel (adaptive)",
        "uds-asio",
        "back to back",
        "after 100 ms",
        "after 1 s",
    },
    "payload-sampled": PAYLOAD,
    "payload-full": PAYLOAD,
    "ladder": {"futex", "mq", "poll", "doorbell", "channel", "270 ns (p99 2.3 µs)"},
    "idle": {"channel (busy)", "channel (sleepy)", "nng", "99.97 %, 0.2 switches/s", "CPU, % of one"},
    "scale-one-busy": {"p50", "p99", "256", "channels, all but one idle (log)"},
    "scale-all-busy": {"256", "million echoes/s in all", "channels, all busy (log)"},
}


ONE_LINE = r"\Areport\.py: .+\n\Z"


class Page(html.parser.HTMLParser):
    """What a page has: its sections, its texts, and whether its elements are balanced."""

    def __init__(self, text):
        super().__init__()
        self.sections, self.ids, self.elements, self.open, self.texts = [], [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.elements.append((tag, given))
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "section":
            self.sections.append(given["id"])
        if tag not in ("meta", "br", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            raise AssertionError(f"</{tag}> ends another element")

    def handle_data(self, data):
        self.texts.append(data)


def texts_of(svg):
    root = xml.etree.ElementTree.parse(svg).getroot()
    return {"".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")}


def report(folder):
    """In this process: to load matplotlib takes longer than to use it."""
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        status = importlib.import_module("report").main([str(folder)])
    return status, errors.getvalue()


class Report(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def report(self, rows):
        """@returns the page, made in a folder that is empty but for the results."""
        for file in self.folder.iterdir():
            file.unlink()
        write(self.folder / "results.json", rows)
        self.assertEqual(report(self.folder), (0, ""))
        page = Page(self.text("report.html"))
        self.assertEqual(page.open, [])
        return page

    def text(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def test_the_program(self):
        write(self.folder / "results.json", sample_results.everything())
        self.assertEqual(run("report.py", self.folder), (0, "", ""))
        self.assertTrue((self.folder / "report.html").exists())

    def test_everything(self):
        page = self.report(sample_results.everything())
        with self.subTest("charts"):
            self.assertEqual({file.stem for file in self.folder.glob("*.svg")}, LABELS.keys())
            for chart, labels in LABELS.items():
                missing = labels - texts_of(self.folder / f"{chart}.svg")
                self.assertFalse(missing, f"{chart} does not show {missing}")
        with self.subTest("page"):
            self.assertEqual(set(page.sections), set().union(*SECTIONS.values()) | {"reference"})
            self.assertEqual(sum(tag == "svg" for tag, _ in page.elements), len(LABELS))
            self.assertEqual(len(page.ids), len(set(page.ids)), "an id is used twice")
            links = [given.get("href") or given.get("xlink:href", "#") for _, given in page.elements]
            self.assertTrue(all(link.startswith("#") for link in links), "needs another file")
            self.assertNotIn("src", {key for _, given in page.elements for key in given})
        markdown = self.text("results.md")
        with self.subTest("markdown"):
            shown = re.findall(r"!\[[^]]+\]\(([^)]+)\)", markdown)
            self.assertEqual({Path(file).stem for file in shown}, LABELS.keys())
            self.assertTrue(all((self.folder / file).is_file() for file in shown))
            for lines in re.findall(r"(?:^\|.*\n)+", markdown, re.MULTILINE):
                self.assertEqual(len({line.count("|") for line in lines.splitlines()}), 1, lines)
        for figure in (
            "252 / 384",
            "10,900 / 55,700",
            "24.06 / ~100",
            "17.06 (71 %)",
            "1.052 / 0.163 / 0.076",
            "2.411 / 2.460 / N/A / 2.368",
            "< 1 / 4",
            "1,056 / 1,083",
            "AMD EPYC 7B13",
        ):
            with self.subTest(figure=figure):
                self.assertIn(figure, markdown)
                self.assertIn(figure, page.texts)

    def test_what_is_not_supported_is_said_once(self):
        self.report(sample_results.everything())
        markdown = self.text("results.md")
        self.assertEqual(
            re.findall(r".*not supported: .*", markdown),
            2
            * [
                "¹ loan, 1 KiB to 64 MiB: not supported: this build has no loans",
                "² send, 256 KiB to 64 MiB: not supported: larger than the ring",
            ]
            + ["| lockfree-spsc | not supported: nothing to wait on |  |  |  |"],
        )
        self.assertEqual(self.text("report.html").count("not supported: "), 5)

    def test_where_nothing_is_supported_this_is_still_said(self):
        for bench, rows in {bench.__name__: list(bench()) for bench in sample_results.BENCHES[1:-1]}.items():
            with self.subTest(bench=bench):
                identities = [
                    {k: v for k, v in row.items() if "_p" not in k and k != "reason"} for row in rows
                ]
                self.report([{**row, "supported": False, "reason": "no such thing"} for row in identities])
                self.assertIn("not supported: no such thing", self.text("results.md"))
                self.assertEqual(list(self.folder.glob("*.svg")), [])

    def test_what_was_not_measured_is_left_out(self):
        for bench in sample_results.BENCHES:
            with self.subTest(bench=bench.__name__):
                page = self.report(list(bench()))
                self.assertEqual(set(page.sections), SECTIONS[bench.__name__] | {"machine", "reference"})
        self.assertEqual(self.report([]).sections, ["reference"])

    def test_single_rows(self):
        kinds = {
            (row["bench"], row.get("metric"), row.get("size") == 64): row
            for row in sample_results.everything()
        }
        for row in kinds.values():
            with self.subTest(row=row):
                self.report([row])

    def test_what_is_unknown_is_ignored(self):
        self.report([*sample_results.idle()])
        known = self.text("report.html")
        more = [
            {"bench": "newer", "size": 1},
            {"bench": "limits", "metric": "newer"},
            {"bench": "payload", "transport": "uds", "receiver": "../newer", "size": 1, "gib_per_s": 1},
        ]
        self.report([{**row, "newer": [None]} for row in sample_results.idle()] + more)
        self.assertEqual(self.text("report.html"), known)

    def test_names_are_text(self):
        rows = [{**row, "transport": "<b>$x^|" + row["transport"]} for row in sample_results.rtt()]
        page = self.report(rows)
        self.assertIn("<b>$x^|uds", texts_of(self.folder / "rtt-64.svg"))
        self.assertIn("<b>$x^|uds", page.texts)
        self.assertIn("| <b>$x^\\|uds |", self.text("results.md"))

    def test_the_same_results_give_the_same_files(self):
        def contents():
            self.report(sample_results.everything())
            return {file.name: file.read_bytes() for file in self.folder.iterdir()}

        self.assertEqual(contents(), contents())

    def test_malformed(self):
        for name, content in MALFORMED.items():
            with self.subTest(name):
                write_malformed(self.folder / "results.json", content)
                status, errors = report(self.folder)
                self.assertEqual(status, 1)
                self.assertRegex(errors, ONE_LINE)
                self.assertFalse((self.folder / "report.html").exists())

    def test_no_results(self):
        self.assert_fails(1, self.folder)
        self.assert_fails(1, self.folder / "nowhere")
        self.assert_fails(2)
        self.assert_fails(2, self.folder, "--no-such-option")

    def test_without_matplotlib(self):
        (self.folder / "matplotlib.py").write_text("raise ImportError", encoding="utf-8")
        write(self.folder / "results.json", [])
        errors = self.assert_fails(1, self.folder, PYTHONPATH=str(self.folder))
        self.assertIn("python3-matplotlib", errors)

    def assert_fails(self, wanted, *arguments, **environment):
        status, out, errors = run("report.py", *arguments, **environment)
        self.assertEqual((status, out), (wanted, ""))
        self.assertRegex(errors, ONE_LINE)
        return errors


if __name__ == "__main__":
    sys.path.insert(0, str(BENCH))
    if importlib.util.find_spec("matplotlib") is None:
        print("skipped: matplotlib is missing (Debian: python3-matplotlib)")
        sys.exit(77)
    unittest.main()
