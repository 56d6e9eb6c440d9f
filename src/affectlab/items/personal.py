"""Personal data in columns of corpora: found by name, left out on import unless asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b

from affectlab.items.parse import Row

_NAMES = """
author authorname authorid authorfullname poster postername user username userid userscreenname screenname
nickname handle account accountname accountid fullname realname firstname lastname surname givenname
familyname email emailaddress mail phone phonenumber telephone mobile address postaladdress ip ipaddress
workerid mturkworkerid prolificid prolificpid dateofbirth birthdate ssn
作者 用户 用户名 用户id 姓名 昵称 邮箱 电子邮箱 电话 手机 手机号 手机号码 地址 身份证号
"""
_PERSONAL = frozenset(_NAMES.split())


def personal_columns(columns: Iterable[str]) -> list[str]:
    """Those of ``columns`` that hold personal data: names, accounts, contacts, platform identities of people.

    Codes that a study gave its raters (``rater_id``, ``annotator``) are not among them: agreement needs
    them, and they identify nobody outside the study.
    """
    return [column for column in columns if "".join(filter(str.isalnum, column.casefold())) in _PERSONAL]


def drop_personal(
    rows: Sequence[Row], keep: Collection[str] = (), salt: bytes | None = None
) -> tuple[list[Row], tuple[str, ...]]:
    """Rows without personal columns, and the names of those columns.

    Args:
        rows: What was read.
        keep: Columns the caller asked for by name; they stay as they are.
        salt: With a salt the values are replaced by a keyed hash instead, so that rows of one person can
            still be grouped; without one the columns are left out.
    """
    present = dict.fromkeys(name for row in rows for name in row.data)
    personal = tuple(name for name in personal_columns(present) if name not in keep)
    if not personal:
        return list(rows), ()
    changed = []
    for row in rows:
        data = {name: value for name, value in row.data.items() if name not in personal}
        if salt is not None:
            data |= {n: _hashed(row.data[n], salt) for n in personal if row.data.get(n) is not None}
        changed.append(replace(row, data=data))
    return changed, personal


def _hashed(value: object, salt: bytes) -> str:
    return blake2b(str(value).encode(), key=salt[:64], digest_size=8).hexdigest()
