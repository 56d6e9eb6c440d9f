"""A label space as a value."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from html import escape

from affectlab.errors import UserError, did_you_mean

_SEPARATORS = re.compile(r"[\s_\-\u2010-\u2015]+")


def fold(text: str) -> str:
    """Brings a label's written form to the form labels are looked up by.

    Compatibility forms (full-width letters), case and the kind of separator (space, ``_``, a dash) do not
    matter.

    Args:
        text: A label id, name or alias as somebody wrote it.

    Returns:
        The folded form; empty when nothing is left.
    """
    return _SEPARATORS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


@dataclass(frozen=True, slots=True)
class Label:
    """One label of a space.

    Attributes:
        id: Stable identifier: lower-case words joined by ``_``; what gold, predictions and scores hold.
        names: Display name by language (``en`` always there, ``zh`` where the space has one).
        aliases: Other written forms that mean this label.
        group: Polarity or dimension group; empty where the space has no groups.
        definition: What the label means, in one line (in ``chiaro10`` the situational trigger that must be
            visible).
        members: Words that together make up a grouped label (``"Glad, happy, joyful"``); unlike an alias a
            member is not the label, so it is resolved only by :meth:`LabelSpace.resolve_member`.
        level: Position on a numeric scale, for spaces that are scales.
        parts: Labels of the component spaces that this one is composed of (``cue_stance9``).
    """

    id: str
    names: Mapping[str, str]
    aliases: tuple[str, ...] = ()
    group: str = ""
    definition: str = ""
    members: tuple[str, ...] = ()
    level: int | None = None
    parts: tuple[str, ...] = ()

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def forms(self) -> tuple[str, ...]:
        """Every written form: names in all languages, aliases, the id; in this order, without repeats."""
        return tuple(dict.fromkeys((*self.names.values(), *self.aliases, self.id)))


@dataclass(frozen=True)
class LabelSpace:
    """An ordered set of labels. Checked when made: ids, names and aliases each mean exactly one label.

    Attributes:
        name: What the user types.
        title: For people.
        version: Changes whenever ids or their order change.
        source: Where the space is from (paper, section).
        labels: In the declared order, which is the order of every table and matrix.
        groups: Declared group names, in order; empty where there are none.
        components: Names of the spaces that labels are composed of, if they are.

    Raises:
        UserError: When a form means two labels, an id repeats, or a group was not declared.
    """

    name: str
    title: str
    version: str
    source: str
    labels: tuple[Label, ...]
    groups: tuple[str, ...] = ()
    components: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if not self.labels:
            raise UserError(f"label space {self.name!r} has no labels; declare at least one [[label]]")
        for label in self.labels:
            self._check_label(label)
        _ = self.lookup, self._composed  # built now, so that a clash is found when the space is made

    def _check_label(self, label: Label) -> None:
        where = f"label space {self.name!r}, label {label.id!r}"
        if sum(other.id == label.id for other in self.labels) > 1:
            raise UserError(f"{where}: the id occurs more than once; ids must be unique")
        if "en" not in label.names:
            raise UserError(f'{where}: no English name; add en = "..."')
        if self.groups and label.group not in self.groups:
            raise UserError(f"{where}: unknown group {label.group!r}; declared groups: {', '.join(self.groups)}")
        if label.group and not self.groups:
            raise UserError(f"{where}: group {label.group!r} is used but the file declares no groups")
        if len(label.parts) != len(self.components):
            raise UserError(
                f"{where}: {len(label.parts)} parts for {len(self.components)} component spaces; give one of each"
            )

    @cached_property
    def lookup(self) -> Mapping[str, str]:
        """Folded form -> label id, over all names, aliases and ids."""
        table: dict[str, str] = {}
        for label in self.labels:
            for form in label.forms:
                key = fold(form)
                if not key:
                    raise UserError(f"label space {self.name!r}, label {label.id!r}: an empty name or alias")
                if table.setdefault(key, label.id) != label.id:
                    raise UserError(
                        f"label space {self.name!r}: {form!r} names both {table[key]!r} and {label.id!r}; "
                        "each name and alias must mean one label"
                    )
        return table

    @cached_property
    def member_lookup(self) -> Mapping[str, tuple[str, ...]]:
        """Folded member word -> ids of the labels it is a member of."""
        table: dict[str, tuple[str, ...]] = {}
        for label in self.labels:
            for member in label.members:
                key = fold(member)
                table[key] = (*table.get(key, ()), label.id)
        return table

    @cached_property
    def _composed(self) -> Mapping[tuple[str, ...], str]:
        table: dict[tuple[str, ...], str] = {}
        for label in self.labels:
            if label.parts and table.setdefault(label.parts, label.id) != label.id:
                raise UserError(
                    f"label space {self.name!r}: parts {list(label.parts)} make up both "
                    f"{table[label.parts]!r} and {label.id!r}"
                )
        return table

    @cached_property
    def _positions(self) -> Mapping[str, int]:
        return {label.id: position for position, label in enumerate(self.labels)}

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Label ids in the declared order."""
        return tuple(label.id for label in self.labels)

    def __hash__(self) -> int:
        return hash((self.name, self.version))

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Label]:
        return iter(self.labels)

    def __contains__(self, label_id: object) -> bool:
        return label_id in self._positions

    def __getitem__(self, label_id: str) -> Label:
        return self.labels[self.index(label_id)]

    def index(self, label_id: str) -> int:
        """Position of a label id in the declared order.

        Raises:
            UserError: When the space has no such id.
        """
        position = self._positions.get(label_id)
        if position is None:
            raise UserError(self._unknown(label_id))
        return position

    def name_of(self, label_id: str, language: str = "en") -> str:
        """Display name of a label; the English one where the language has none."""
        names = self[label_id].names
        return names.get(language, names["en"])

    def by_group(self, group: str) -> tuple[str, ...]:
        """Ids of the labels in a group, in the declared order.

        Raises:
            UserError: When the group is not one of the space's.
        """
        if group not in self.groups:
            raise UserError(
                f"label space {self.name!r} has no group {group!r}; "
                + (f"it has: {', '.join(self.groups)}" if self.groups else "it has no groups")
            )
        return tuple(label.id for label in self.labels if label.group == group)

    def group_of(self, label_id: str) -> str:
        """Group of a label id."""
        return self[label_id].group

    def forms(self) -> dict[str, tuple[str, ...]]:
        """Every written form of each label: id -> names, aliases and the id itself."""
        return {label.id: label.forms for label in self.labels}

    def resolve(self, text: str) -> str | None:
        """Id of the label that ``text`` names, in any language and form; ``None`` when it names none."""
        return self.lookup.get(fold(text))

    def resolve_member(self, text: str) -> str | None:
        """Id of the only label that ``text`` is a member word of; ``None`` when there is not exactly one."""
        owners = self.member_lookup.get(fold(text), ())
        return owners[0] if len(owners) == 1 else None

    def require(self, text: str) -> str:
        """Like :meth:`resolve`, for text that must be a label.

        Raises:
            UserError: Naming the allowed labels and the nearest of them.
        """
        found = self.resolve(text)
        if found is None:
            raise UserError(self._unknown(text))
        return found

    def at_level(self, level: int) -> str:
        """Id of the label at a position of a numeric scale.

        Raises:
            UserError: When no label has this level.
        """
        for label in self.labels:
            if label.level == level:
                return label.id
        levels = [label.level for label in self.labels if label.level is not None]
        has = f"its levels are {min(levels)} to {max(levels)}" if levels else "it is not a numeric scale"
        raise UserError(f"label space {self.name!r} has no level {level}; {has}")

    def compose(self, *parts: str) -> str:
        """Id of the label made up of the given component labels (φ of CUE-Bench §4.2 for ``cue_stance9``).

        Args:
            *parts: One label id per component space, in the order of :attr:`components`.

        Raises:
            UserError: When these parts make up no label.
        """
        composed = self._composed.get(parts)
        if composed is None:
            made_of = ", ".join(map(repr, parts)) or "nothing"
            takes = ", ".join(self.components) or "nothing: its labels are not composed"
            raise UserError(f"label space {self.name!r}: no label is made up of {made_of}; it takes {takes}")
        return composed

    def nearest(self, text: str) -> tuple[str, ...]:
        """Ids of the labels whose written forms are most like ``text``, the likest first; at most three."""
        near = get_close_matches(fold(text), self.lookup, n=3, cutoff=0.6)
        return tuple(dict.fromkeys(self.lookup[form] for form in near))

    def _unknown(self, text: str) -> str:
        hint = did_you_mean(map(repr, self.nearest(text))) or ";"
        return f"{text!r} is not a label of {self.name!r}{hint} Allowed: {', '.join(self.ids)}"

    def __repr__(self) -> str:
        shown = ", ".join(self.ids[:5]) + (", …" if len(self) > 5 else "")
        return f"LabelSpace({self.name!r}, {len(self)} labels: {shown})"

    def _repr_html_(self) -> str:
        languages = list(dict.fromkeys(language for label in self.labels for language in label.names))
        head = "".join(f"<th>{escape(h)}</th>" for h in ("id", *languages, "group"))
        body = "".join(
            "<tr>"
            + "".join(
                f"<td>{escape(cell)}</td>"
                for cell in (label.id, *(label.names.get(lang, "") for lang in languages), label.group)
            )
            + "</tr>"
            for label in self.labels
        )
        return f"<table><caption>{escape(self.title)}</caption><tr>{head}</tr>{body}</table>"
