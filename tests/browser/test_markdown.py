"""The console's Markdown: what is drawn, that streaming draws the same, and that no text makes it slow."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page

from browser.conftest import Serve
from support.patience import bounded

DRAWN = """async (text) => {
  const { parse } = await import("/console/markdown.js");
  const { draw } = await import("/console/draw.js");
  const box = document.createElement("div");
  box.append(...parse(text).map(draw));
  for (const node of box.querySelectorAll("figcaption button")) node.remove();
  return box.innerHTML.replace(/ (dir|tabindex|aria-label)="[^"]*"/g, "");
}"""

STREAMED = """async (examples) => {
  const { parse } = await import("/console/markdown.js");
  const { draw, GrowingText } = await import("/console/draw.js");
  return examples.map((pieces) => {
    const growing = new GrowingText();
    for (const piece of pieces) {
      growing.append(piece);
      growing.flush();
    }
    const shown = growing.node.innerText ?? growing.node.textContent;
    growing.finish();
    const once = document.createElement("div");
    once.append(...parse(pieces.join("")).map(draw));
    return [growing.node.innerHTML, once.innerHTML, shown];
  });
}"""

CASES = [
    ("# One\n## Two", "<h3>One</h3><h4>Two</h4>"),
    ("a\nb\n\nc", "<p>a\nb</p><p>c</p>"),
    ("a  \nb\\\nc", "<p>a  <br>b<br>c</p>"),
    ("**b** *i* __b__ _i_ ~~s~~", "<p><strong>b</strong> <em>i</em> <strong>b</strong> <em>i</em> <del>s</del></p>"),
    ("***both*** 2*3*4 snake_case_name", "<p><em><strong>both</strong></em> 2<em>3</em>4 snake_case_name</p>"),
    ("**说明：**后面", "<p><strong>说明：</strong>后面</p>"),
    ("a * b * c", "<p>a * b * c</p>"),
    ("**unclosed and *one*", "<p>**unclosed and <em>one</em></p>"),
    ("`a*b*` ``x`y`` `open", "<p><code>a*b*</code> <code>x`y</code> `open</p>"),
    ("\\*not\\* \\<", "<p>*not* &lt;</p>"),
    ("- a\n- b\n  - c\n- d", "<ul><li>a</li><li>b<ul><li>c</li></ul></li><li>d</li></ul>"),
    ("3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'),
    ("- a\n\n- b", "<ul><li><p>a</p></li><li><p>b</p></li></ul>"),
    ("1. a\n2. b\ntext", "<ol><li>a</li><li>b\ntext</li></ol>"),
    (
        "- [x] done\n- [ ] open",
        '<ul><li><span class="task">☑ </span>done</li><li><span class="task">☐ </span>open</li></ul>',
    ),
    ("> a\n> b\n\nc", "<blockquote><p>a\nb</p></blockquote><p>c</p>"),
    ("---\n***", "<hr><hr>"),
    ("text\n- item", "<p>text</p><ul><li>item</li></ul>"),
    ("It was\n1984. Then", "<p>It was\n1984. Then</p>"),
    (
        "| a | b |\n|:-:|--:|\n| `x\\|y` | 2 |",
        '<div class="table" role="group"><table><thead><tr><th class="center">a</th><th class="right">b</th></tr>'
        '</thead><tbody><tr><td class="center"><code>x|y</code></td><td class="right">2</td></tr>'
        "</tbody></table></div>",
    ),
    ("a | b", "<p>a | b</p>"),
    (
        "```py x\na < b\n```",
        '<figure class="code"><figcaption><span>py</span></figcaption><pre><code>a &lt; b</code></pre></figure>',
    ),
    (
        "~~~\n```\n",
        '<figure class="code"><figcaption><span>text</span></figcaption><pre><code>```\n</code></pre></figure>',
    ),
    ("<b>no</b> &amp;", "<p>&lt;b&gt;no&lt;/b&gt; &amp;amp;</p>"),
    (
        "see https://a.b/a_b_c. [t](http://x.y/(z))",
        '<p>see <a href="https://a.b/a_b_c" target="_blank" rel="noopener noreferrer">https://a.b/a_b_c</a>. '
        '<a href="http://x.y/(z)" target="_blank" rel="noopener noreferrer">t</a></p>',
    ),
    ("[x](ftp://a.b) [y](/path) [z]", "<p>x y [z]</p>"),
]

WORDS = [
    "a",
    "**",
    "*",
    "_",
    "`",
    "```\n",
    "\n",
    "\n\n",
    "- ",
    "1. ",
    "> ",
    "# ",
    "|",
    "|-|-|",
    "[x](",
    "http://a.b",
    ")",
    "  ",
    "~~",
    "\\",
    "中",
    "<b>",
]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=30)
HOSTILE = [
    "*" * 50_000,
    "[" * 50_000,
    "`" * 3 + "a`" * 30_000,
    "> " * 20_000,
    "- " * 20_000,
    "**a " * 20_000,
    "![](" * 20_000,
    "|" * 50_000 + "\n" + "|-" * 20_000,
    "_a_*b*" * 10_000,
]


@pytest.fixture(scope="module")
def page(chromium: Browser, serve: Serve) -> Page:
    page = chromium.new_page()
    page.goto(serve([]).url)
    return page


@pytest.mark.parametrize(("text", "html"), CASES, ids=[repr(text)[:30] for text, _ in CASES])
def test_markdown_is_drawn(page: Page, text: str, html: str) -> None:
    assert page.evaluate(DRAWN, text) == html


@settings(max_examples=25, deadline=None)
@given(examples=st.lists(TEXTS, min_size=10, max_size=20))
def test_text_in_pieces_ends_as_text_in_one(page: Page, examples: list[list[str]]) -> None:
    for pieces, (streamed, once, _) in zip(examples, page.evaluate(STREAMED, examples), strict=True):
        assert streamed == once, pieces


def test_every_word_is_shown_before_the_text_ends(page: Page) -> None:
    text = "# Title\n\nSome **bold** text\n\n- one\n- two\n\n```py\nx = 1\ny = 2\n```\n\nlast words"
    [[_, _, shown]] = page.evaluate(STREAMED, [list(text)])
    for word in ("Title", "Some bold text", "one", "two", "x = 1\ny = 2", "last words"):
        assert word in shown


@pytest.mark.parametrize("text", HOSTILE, ids=[text[:4] for text in HOSTILE])
def test_no_text_makes_it_slow(page: Page, text: str) -> None:
    with bounded():
        page.evaluate(DRAWN, text)
