"""Templates, and the words and small helpers they use. Everything is escaped unless it is our own markup."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, Response

from affectlab.annotate.keys import FORM_COMMANDS, NONE_KEY
from affectlab.annotate.words import LANGUAGES, interface, say

if TYPE_CHECKING:
    from affectlab.annotate.web.visit import Visit


class Pages:
    """The templates."""

    def __init__(self) -> None:
        loader = PackageLoader("affectlab.annotate", "web/templates")
        self._env = Environment(
            loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        self._env.globals |= {
            "paragraphs": paragraphs,
            "quoted": lambda text: quote(text, safe=""),
            "languages": LANGUAGES,
            "none_key": NONE_KEY,
            "form_commands": FORM_COMMANDS,
        }

    def response(self, template: str, visit: Visit, status: int, values: Mapping[str, Any]) -> Response:
        """A template, filled for a visit."""
        language = visit.language

        def tell(name: str, **parts: Any) -> str:
            words = interface()[name]
            return say(words, language).format(**parts)

        text = self._env.get_template(template).render(
            t=tell,
            say=lambda words: say(words, language),
            lang=language,
            me=visit.person,
            csrf=visit.token,
            path=visit.request.url.path,
            **values,
        )
        return HTMLResponse(text, status)


def paragraphs(text: str) -> Markup:
    """A design's text as paragraphs and lists: a line is a paragraph, lines that start with ``- `` are a list."""
    made: list[str] = []
    entries: list[str] = []
    for line in [*text.strip().splitlines(), ""]:
        if line.startswith("- "):
            entries.append(f"<li>{escape(line[2:])}</li>")
            continue
        if entries:
            made.append(f"<ul>{''.join(entries)}</ul>")
            entries = []
        if line.strip():
            made.append(f"<p>{escape(line)}</p>")
    return Markup("".join(made))  # noqa: S704 - every piece is escaped above
