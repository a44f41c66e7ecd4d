"""HTML bodies as plain text that loses no word. One pass, linear in the text, whatever is in it."""

from __future__ import annotations

import html
import re

_BREAKING = set((
    "address article aside blockquote body br center dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 "
    "h5 h6 head header hr html li main nav ol p pre section table tbody tfoot thead title tr ul").split())
_FLOWING = set((
    "a abbr b bdi bdo big button caption cite code col colgroup del dfn em font i img input ins kbd label link mark "
    "meta o:p path q s samp script small span strike strong style sub sup svg td template th tt u var wbr").split())
_KNOWN = _BREAKING | _FLOWING
_UNSEEN = ("script", "style")

_TAG = re.compile(r"""<(?:!--|(/?)([A-Za-z][\w:-]*+)((?>[^<>"']++|"[^"]*+"|'[^']*+'){0,200})>|!doctype[^<>]*+>)""",
                  re.IGNORECASE)
_EMBEDDED = re.compile(r"data:[\w/+.;=-]{0,80}base64,[A-Za-z0-9+/=%]{60,}+", re.IGNORECASE)
_EDGE = re.compile(rf"\s*<(?:!doctype|!--|/?(?:{'|'.join(sorted(_KNOWN))})\b)", re.IGNORECASE)
_INSIDE = re.compile(r"<br\s*/?>|</(?:p|div|td|li|table|blockquote)\s*>", re.IGNORECASE)


def looks_like_html(text: str) -> bool:
    """True when the text begins with a known tag or holds a line break or the end of a block in HTML. "<KX-2>",
    "temp < 5" and a mention of "<b>" are plain text."""
    return "<" in text and bool(_EDGE.match(text) or _INSIDE.search(text))


def html_to_text(text: str) -> str:
    """The words of an HTML text, with its line structure. Scripts, styles, comments and embedded pictures are left out;
    anything in angle brackets that is no HTML tag stays as it stands, links and pictures keep address and description.
    """
    has_lines = not _EDGE.match(text) and text.count("\n") > len(_INSIDE.findall(text))    # Markdown with a <br> in it
    if has_lines:
        text = text.replace("\r\n", "\n").replace("\n", "<br>")
    parts: list[str] = []
    links: list[str] = []
    searched_in_vain: set[str] = set()
    position = 0
    while tag := _TAG.search(text, position):
        parts.append(_words(text[position:tag.start()]))
        position = _skip(text, tag, searched_in_vain) or tag.end()
        if position == tag.end():
            parts.append(_shown(tag, links))
    parts.append(_words(text[position:]))
    return _tidy("".join(parts))


def without_embedded(text: str) -> str:
    """The text with files embedded as base64 (pasted pictures) replaced by a remark on their size."""
    if "base64," not in text:
        return text
    return _EMBEDDED.sub(lambda m: f"[embedded file, {len(m[0]):,} characters left out]", text)


def _words(text: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(text).replace("\xa0", " "))


def _skip(text: str, tag: re.Match[str], searched_in_vain: set[str]) -> int:
    """Where the unseen content that this tag opens ends; 0 when it opens none, or none that is ever closed."""
    opening, name = tag[0][:4], (tag[2] or "").lower()
    end = "-->" if opening == "<!--" else f"</{name}" if name in _UNSEEN and not tag[1] else ""
    if not end or end in searched_in_vain:
        return 0
    found = re.compile(re.escape(end) + ("" if end == "-->" else r"\s*>"), re.IGNORECASE).search(text, tag.end())
    if not found:
        searched_in_vain.add(end)
    return found.end() if found else 0


def _shown(tag: re.Match[str], links: list[str]) -> str:
    name = (tag[2] or "").lower()
    if not name:
        return tag[0] if tag[0] == "<!--" else ""
    if name not in _KNOWN or _holds_words(tag[3]):
        return tag[0]
    if name == "a":
        return _link(tag, links)
    if name == "img":
        alt = _attribute(tag[3], "alt")
        return f"[image: {alt}]" if alt else ""
    if name in ("td", "th"):
        return "\t" if tag[1] else ""
    if name == "li":
        return "\n" if tag[1] else "\n- "
    return "\n" if name in _BREAKING else ""


def _holds_words(attributes: str) -> bool:
    """Whether words stand where attributes should: "if a <b and c> d" is no tag, nor is one with an open quote."""
    if not attributes or attributes.isspace():
        return False
    return any(not word.endswith("=") and word.strip("/").lower() not in _LONE
               for word in _VALUE.sub("= ", attributes).split())


_VALUE = re.compile(r"""\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'>]++)""")
_LONE = set(("", "nowrap", "noshade", "hidden", "disabled", "checked", "selected", "controls", "compact", "readonly",
             "required", "multiple", "open", "reversed", "ismap", "async", "defer", "allowfullscreen", "novalidate"))


def _link(tag: re.Match[str], links: list[str]) -> str:
    """The address of a link, after its words."""
    if not tag[1]:
        links.append(_attribute(tag[3], "href"))
        return ""
    address = links.pop() if links else ""
    return f" ({address})" if address.lower().startswith(("http:", "https:", "mailto:")) else ""


def _attribute(attributes: str, name: str) -> str:
    found = re.search(rf"""(?<![\w-]){name}\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", attributes, re.IGNORECASE)
    return _words(next((g for g in found.groups() if g is not None), "")).strip() if found else ""


def _tidy(text: str) -> str:
    lines = [line.strip(" ") for line in text.split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip("\t") for line in lines)).strip()
