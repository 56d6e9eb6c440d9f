"""Prompt templates whose fields are checked when they are made, not when a run is half done."""

from __future__ import annotations

from dataclasses import dataclass
from string import Formatter

from affectlab.errors import UserError


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """Text with ``{field}`` places.

    Braces in the data that fill a field are data. Braces in the template that are not one of ``fields`` are an
    error; literal ones are written ``{{`` and ``}}``.

    Attributes:
        text: The template.
        fields: Every field it must hold, and no other.

    Raises:
        UserError: When the template's places are not exactly ``fields``.
    """

    text: str
    fields: tuple[str, ...]

    def __post_init__(self) -> None:
        try:
            found = [name for _, name, spec, conversion in Formatter().parse(self.text) if name is not None]
            plain = all(
                not spec and not conversion for _, name, spec, conversion in Formatter().parse(self.text) if name
            )
        except ValueError as error:
            raise UserError(
                f"Template has a brace that is not a field ({error}): write {{{{ or }}}} for a literal one."
            ) from error
        unknown = sorted(set(found) - set(self.fields))
        missing = sorted(set(self.fields) - set(found))
        if unknown or not plain:
            shown = ", ".join("{" + name + "}" for name in unknown) or "a format specification"
            raise UserError(
                f"Template holds {shown}, which is not a field. Fields: {', '.join(self.fields) or 'none'}."
            )
        if missing:
            raise UserError(f"Template lacks {', '.join('{' + name + '}' for name in missing)}.")

    def fill(self, **values: str) -> str:
        """The text with every field replaced by its value, taken as it is."""
        return self.text.format(**values)
