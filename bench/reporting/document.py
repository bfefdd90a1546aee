# Copyright (c) 2026 the sysipc_asio authors.
# Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

"""A report's sections, tables and charts, written as HTML and as Markdown."""

import html
import re
from dataclasses import dataclass, field


@dataclass
class Table:
    """The last cell of a row that is too short extends to the table's end."""

    headings: list
    rows: list
    notes: list = field(default_factory=list)
    words: bool = False  # rather than figures

    def without_empty_columns(self):
        last = len(self.headings)
        full = [row for row in self.rows if len(row) == last]
        kept = [i for i in range(last) if i == 0 or any(row[i] for row in full)]
        if not full:
            kept = list(range(min(last, 2)))
        self.headings = [self.headings[i] for i in kept]
        self.rows = [[row[i] for i in kept] if len(row) == last else row for row in self.rows]
        return self


@dataclass
class Chart:
    name: str  # of its file, without .svg
    text: str  # for those who cannot see it
    figure: object  # of matplotlib

    @property
    def file(self):
        return f"{self.name}.svg"


@dataclass
class Section:
    name: str
    title: str
    text: str
    parts: list  # of Table and Chart


STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 64rem;
       margin: 2rem auto; padding: 0 1rem }
h1, h2 { line-height: 1.2 }
h2 { margin-top: 3rem; border-bottom: 1px solid #ccc; padding-bottom: .3rem }
nav ul { columns: 2; padding-left: 1.2rem }
figure { margin: 1.5rem 0 }
svg { width: 100%; height: auto }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; margin-top: 1rem }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap }
th { border-bottom: 2px solid #888; vertical-align: bottom; white-space: normal }
th:first-child, td:first-child, td[colspan], .words th, .words td { text-align: left }
td[colspan] { color: #666; font-style: italic; white-space: normal }
.reference { color: #666; background: #f5f5f5 }
.note { color: #555; font-size: .875rem; margin: .5rem 0 }
"""


def to_html(title, intro, sections, drawings):
    """`drawings`: the SVG text of each chart by its name."""
    body = [f"<h1>{html.escape(title)}</h1>"]
    body += [f"<p>{html.escape(text)}</p>" for text in intro]
    body.append("<nav><ul>")
    body += [f'<li><a href="#{s.name}">{html.escape(s.title)}</a></li>' for s in sections]
    body.append("</ul></nav>")
    for section in sections:
        body.append(f'<section id="{section.name}">\n<h2>{html.escape(section.title)}</h2>')
        if section.text:
            body.append(f"<p>{html.escape(section.text)}</p>")
        for part in section.parts:
            if isinstance(part, Table):
                body.append(_html_table(part))
            else:
                body.append(f"<figure>\n{_inline(drawings[part.name], part.text)}</figure>")
        body.append("</section>")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _inline(svg, text):
    """Without what only a file of its own has, and without names that other charts use, too."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)
    label = html.escape(text, quote=True)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def _html_table(table):
    reference = ["reference" in heading for heading in table.headings]

    def cells(tag, row):
        result = ""
        for i, cell in enumerate(row):
            extent = len(table.headings) - i
            span = f' colspan="{extent}"' if i == len(row) - 1 and extent > 1 else ""
            look = ' class="reference"' if reference[i] and not span else ""
            result += f"<{tag}{span}{look}>{html.escape(cell)}</{tag}>"
        return f"<tr>{result}</tr>"

    look = ' class="words"' if table.words else ""
    lines = [f'<div class="wide"><table{look}>', f"<thead>{cells('th', table.headings)}</thead>", "<tbody>"]
    lines += [cells("td", row) for row in table.rows]
    lines.append("</tbody></table></div>")
    lines += [f'<p class="note">{html.escape(note)}</p>' for note in table.notes]
    return "\n".join(lines)


def to_markdown(title, intro, sections):
    parts = [f"# {title}", *intro]
    for section in sections:
        parts.append(f"## {section.title}")
        if section.text:
            parts.append(section.text)
        for part in section.parts:
            if isinstance(part, Table):
                parts += [_markdown_table(part), *part.notes]
            else:
                parts.append(f"![{part.text}]({part.file})")
    return "\n\n".join(parts) + "\n"


def _markdown_table(table):
    width = len(table.headings)

    def line(cells):
        cells = [cell.replace("|", "\\|") for cell in cells]
        return "| " + " | ".join(cells + [""] * (width - len(cells))) + " |"

    rule = "|---|" + ("---|" if table.words else "---:|") * (width - 1)
    return "\n".join([line(table.headings), rule, *(line(row) for row in table.rows)])
