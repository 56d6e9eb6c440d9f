"""Tables of a project. Times are seconds since 1970 in UTC."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)

FORMAT = 1
"""Version of this layout; a store of another one is refused."""

META = MetaData()

setting = Table("setting", META, Column("name", String(64), primary_key=True), Column("value", JSON, nullable=False))

design = Table(
    "design",
    META,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("body", JSON, nullable=False),
    Column("mapping", JSON, nullable=False),  # slot -> label of the version before -> label of this one
    Column("at", Float, nullable=False),
)

person = Table(
    "person",
    META,
    Column("id", String(32), primary_key=True),
    Column("name", String(64), nullable=False, unique=True),
    Column("role", String(16), nullable=False),
    Column("password", String(256), nullable=False),  # empty: cannot sign in (imported annotators)
    Column("language", String(8), nullable=False),
    Column("typing", Boolean, nullable=False),  # agreed to have the rhythm of typing recorded
    Column("at", Float, nullable=False),
    CheckConstraint("role IN ('annotator', 'adjudicator', 'admin')", name="a_known_role"),
)

invite = Table(
    "invite",
    META,
    Column("id", String(32), primary_key=True),
    Column("role", String(16), nullable=False),
    Column("used_by", ForeignKey("person.id")),
    Column("at", Float, nullable=False),
)

session = Table(
    "session",
    META,
    Column("digest", String(64), primary_key=True),
    Column("person", ForeignKey("person.id"), nullable=False),
    Column("until", Float, nullable=False),
)

failure = Table(
    "failure",
    META,
    Column("id", Integer, primary_key=True),
    Column("name", String(64), nullable=False),
    Column("address", String(64), nullable=False),
    Column("at", Float, nullable=False, index=True),
)

item = Table(
    "item",
    META,
    Column("id", String(200), primary_key=True),
    Column("kind", String(16), nullable=False),  # work, attention, training, repeat
    Column("place", Integer, nullable=False),
    Column("rank", BigInteger, nullable=False),  # random, from which each person's order is made
    Column("taken", Integer, nullable=False),
    Column("body", JSON, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("author", ForeignKey("person.id")),
    Column("of", String(200)),  # the item a repeat repeats
    Column("expected", JSON),
    UniqueConstraint("kind", "digest", name="no_item_twice"),
    Index("item_free", "kind", "taken"),
)

assignment = Table(
    "assignment",
    META,
    Column("item", ForeignKey("item.id"), nullable=False),
    Column("person", ForeignKey("person.id"), nullable=False),
    Column("place", Integer),  # 1 to overlap; null for what does not count (probes, repeats, own stories, lapsed)
    Column("number", Integer, nullable=False),  # how manieth of the person
    Column("state", String(16), nullable=False),  # open, done, skipped, lapsed
    Column("leased_until", Float, nullable=False),
    Column("at", Float, nullable=False),
    PrimaryKeyConstraint("item", "person"),
    UniqueConstraint("item", "place", name="one_person_a_place"),
    Index("assignment_lease", "state", "leased_until"),
    Index("assignment_person", "person", "number"),
    CheckConstraint("state IN ('open', 'done', 'skipped', 'lapsed')", name="a_known_state"),
)

response = Table(
    "response",
    META,
    Column("item", ForeignKey("item.id"), nullable=False),
    Column("person", ForeignKey("person.id"), nullable=False),
    Column("version", Integer, nullable=False),
    Column("body", JSON, nullable=False),
    Column("submit_key", String(64), nullable=False, unique=True),
    Column("design_version", Integer, nullable=False),
    Column("guideline_version", String(64), nullable=False),
    Column("at", Float, nullable=False),
    Column("active_ms", Integer),
    Column("elapsed_ms", Integer),
    Column("typing", JSON),
    PrimaryKeyConstraint("item", "person", "version"),
)

draft = Table(
    "draft",
    META,
    Column("item", String(200), nullable=False),  # an item, or a stage of the person
    Column("person", ForeignKey("person.id"), nullable=False),
    Column("body", JSON, nullable=False),
    Column("rev", Integer, nullable=False),
    Column("window", String(64), nullable=False),  # which window of the browser has written it
    Column("at", Float, nullable=False),
    PrimaryKeyConstraint("item", "person"),
)

decision = Table(
    "decision",
    META,
    Column("item", ForeignKey("item.id"), nullable=False),
    Column("slot", String(64), nullable=False),
    Column("version", Integer, nullable=False),
    Column("value", JSON, nullable=False),  # {"value": …, "design": version}; the value is null for no gold
    Column("choice", String(16), nullable=False),  # accept, other, no_gold
    Column("reason", Text, nullable=False),
    Column("basis", String(64), nullable=False),  # hash of the answers it was made on
    Column("person", ForeignKey("person.id"), nullable=False),
    Column("at", Float, nullable=False),
    PrimaryKeyConstraint("item", "slot", "version"),
)

note = Table(
    "note",
    META,
    Column("id", Integer, primary_key=True),
    Column("item", ForeignKey("item.id"), nullable=False, index=True),
    Column("person", ForeignKey("person.id"), nullable=False),
    Column("text", Text, nullable=False),
    Column("at", Float, nullable=False),
)

stage = Table(
    "stage",
    META,
    Column("person", ForeignKey("person.id"), nullable=False),
    Column("name", String(80), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("body", JSON, nullable=False),
    Column("at", Float, nullable=False),
    PrimaryKeyConstraint("person", "name", "attempt"),
)

pairing = Table(
    "pairing",
    META,
    Column("item", ForeignKey("item.id"), nullable=False),
    Column("name", String(64), nullable=False),  # of the person, who may not have an account yet
    PrimaryKeyConstraint("item", "name"),
)

event = Table(
    "event",
    META,
    Column("id", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("person", String(32), nullable=False),  # empty: the command line
    Column("kind", String(32), nullable=False, index=True),
    Column("body", JSON, nullable=False),
)
