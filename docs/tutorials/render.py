"""Runs a tutorial and makes one page of it: text, code, what the code printed, and its pictures, all inside.

A tutorial is a Python script in cells: "# %% [markdown]" begins text in comments, "# %%" code. What the last line of a
cell is, if it is an expression, is shown, as in a notebook.
"""

from __future__ import annotations

import argparse
import ast
import base64
import contextlib
import html
import io
import re
import warnings
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --paper: #fff; --code: #f4f5f7; --line: #d9dde3; --link: #1b5fc1 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e3e7ee; --paper: #14181f; --code: #1e242e; --line: #39424f; --link: #7fb0ff }
  img { background: #fff; border-radius: 6px }
}
body { max-width: 54rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.55 system-ui, sans-serif; color: var(--ink);
       background: var(--paper) }
h1, h2 { line-height: 1.2 } a { color: var(--link) }
pre { background: var(--code); padding: .7rem .9rem; border-radius: 6px; overflow-x: auto; font-size: .85rem;
      line-height: 1.4 }
pre.out { white-space: pre-wrap; background: none; border-left: 3px solid var(--line); border-radius: 0; margin-top: -.6rem }
code { background: var(--code); padding: .1rem .25rem; border-radius: 3px; font-size: .9em }
pre code { padding: 0; background: none } img { max-width: 100%; height: auto; display: block; margin: .6rem 0 }
"""


def cells_of(source: str) -> list[tuple[str, str]]:
    """("text" or "code", content) for every cell."""
    cells = []
    for piece in re.split(r"^# %%", source, flags=re.MULTILINE)[1:]:
        head, _, body = piece.partition("\n")
        if "[markdown]" in head:
            body = re.sub(r"^# ?", "", body, flags=re.MULTILINE)
            cells.append(("text", body.strip()))
        elif body.strip():
            cells.append(("code", body.strip()))
    return cells


def text_as_html(text: str) -> str:
    """Headings, paragraphs, lists, links, code and emphasis; nothing else is needed."""
    blocks = []
    for block in re.split(r"\n\s*\n", text):
        heading = re.match(r"(#+) (.*)", block)
        if heading:
            level = len(heading[1])
            blocks.append(f"<h{level}>{_inline(heading[2])}</h{level}>")
        elif block.startswith("* "):
            items = re.split(r"^\* ", block, flags=re.MULTILINE)[1:]
            blocks.append("<ul>" + "".join(f"<li>{_inline(item.strip())}</li>" for item in items) + "</ul>")
        else:
            blocks.append(f"<p>{_inline(block)}</p>")
    return "\n".join(blocks)


def _inline(text: str) -> str:
    text = html.escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\[([^]]+)\]\(([^)]+)\)", r'<a href="\2">\1</a>', text)
    return re.sub(r"\*([^*\s][^*]*)\*", r"<em>\1</em>", text)


def run_cell(code: str, space: dict[str, Any]) -> str:
    """What a cell printed, showed and drew, as HTML. What it raises is raised."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, shown = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<tutorial>", "exec"), space)
        if last is not None:
            shown = eval(compile(ast.Expression(last.value), "<tutorial>", "eval"), space)
    parts = []
    text = printed.getvalue()
    drawn = type(shown).__module__.split(".")[0] in ("matplotlib", "mpl_toolkits")
    if shown is not None and not drawn:
        text += repr(shown)
    if text.strip():
        parts.append(f'<pre class="out">{html.escape(text.rstrip(), quote=False)}</pre>')
    for number in plt.get_fignums():
        picture = io.BytesIO()
        plt.figure(number).savefig(picture, format="png", dpi=90, bbox_inches="tight")
        data = base64.b64encode(picture.getvalue()).decode()
        parts.append(f'<img alt="picture made by the code above" src="data:image/png;base64,{data}">')
    plt.close("all")
    return "\n".join(parts)


def render(script: Path) -> str:
    """The page of a tutorial."""
    space: dict[str, Any] = {"__name__": "__main__"}
    body = []
    title = script.stem
    for kind, content in cells_of(script.read_text()):
        if kind == "text":
            body.append(text_as_html(content))
            title = content.splitlines()[0].lstrip("# ") if content.startswith("# ") else title
        else:
            body.append(f"<pre><code>{html.escape(content, quote=False)}</code></pre>")
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # a reader should not see any
                warnings.filterwarnings("ignore", category=DeprecationWarning)
                body.append(run_cell(content, space))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>\n<body>\n'
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the pages go")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for script in sorted(Path(__file__).parent.glob("[0-9]*.py")):
        (folder / f"{script.stem}.html").write_text(render(script))
        print(folder / f"{script.stem}.html")


if __name__ == "__main__":
    main()
