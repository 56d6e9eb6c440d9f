"""Cases about building scenes: word lists, length, spans, valence, roles, people, order-swapped votes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from affectlab.benchmarks.chiaro import people, validate
from affectlab.benchmarks.chiaro.adjudicate import adjudicate
from affectlab.benchmarks.chiaro.lexicon import banned_terms, find_terms, leakage_terms
from affectlab.benchmarks.chiaro.record import Scene

_SPANS = {"cause_span", "evidence_a", "evidence_b", "evidence_A", "evidence_B"}
_ROLES = {"agent_a_role", "agent_b_role", "agent_A_role", "agent_B_role"}
_ACCEPTED = frozenset({"pass", "ok", "accept", "valid"})
_REFUSED = frozenset({"reject", "fail", "invalid"})


def check(case: Mapping[str, Any]) -> str | None:
    """``None`` when our rules come to the case's right outcome, else what came out."""
    given, right = case["input"], case["right_outcome"]
    if "adjudication" in given:
        return _adjudication(given["adjudication"], right)
    rule = _rule(frozenset(given))
    if rule is None or right.get("status") not in _ACCEPTED | _REFUSED:
        return f"unknown shape: input {sorted(given)}, right outcome {sorted(right)}"
    problems = rule(given)
    if bool(problems) != (right["status"] in _REFUSED):
        return f"expected {right['status']}, found {problems or 'nothing wrong'}"
    return None


def _rule(keys: frozenset[str]) -> Callable[[Mapping[str, Any]], list[str]] | None:
    if keys == {"emotions"}:
        return lambda given: _some(validate.valence_problem(given["emotions"]))
    if keys in ({"sentence", "banned"}, {"sentence", "emotion"}):
        return _terms
    if keys == {"roles"} or (len(keys) == 2 and keys <= _ROLES):
        return _roles
    if keys == {"cause_effect_relation"}:
        return lambda given: _some(validate.single_cause_problem(given["cause_effect_relation"]))
    if "sentence" in keys and len(keys) > 1 and keys - {"sentence"} <= _SPANS:
        return _span
    if keys == {"sentence"} or keys == {"sentence", "roles"} or (len(keys) == 3 and keys - {"sentence"} <= _ROLES):
        return _sentence
    return None


def _some(problem: str | None) -> list[str]:
    return [problem] if problem else []


def _terms(given: Mapping[str, Any]) -> list[str]:
    terms = given["banned"] if "banned" in given else (*banned_terms(), *leakage_terms(given["emotion"]))
    return list(find_terms(given["sentence"], terms))


def _both_roles(given: Mapping[str, Any]) -> tuple[str, str]:
    roles = given["roles"] if "roles" in given else [given[name] for name in sorted(_ROLES & set(given))]
    first, second = roles
    return first, second


def _roles(given: Mapping[str, Any]) -> list[str]:
    return _some(people.role_collision(*_both_roles(given)))


def _span(given: Mapping[str, Any]) -> list[str]:
    located = {name: validate.find_span(given["sentence"], given[name]) for name in _SPANS & set(given)}
    for name, span in located.items():
        if span and given["sentence"][span.start : span.end] != given[name]:
            return [f"{name} is not what stands at {span}"]
        if span and given["sentence"].find(given[name]) != span.start:
            return [f"{name}: not the first occurrence: {span}"]
    return sorted(name for name, span in located.items() if span is None)


def _sentence(given: Mapping[str, Any]) -> list[str]:
    has_roles = set(given) != {"sentence"}
    first, second = _both_roles(given) if has_roles else ("first person", "second person")
    scene = Scene(id="case", sentence=given["sentence"], agent_a_role=first, agent_b_role=second)
    codes = {"banned_term", "length", "single_cause", "agent_letter", "dialogue", "screen_text"}
    if has_roles:
        codes |= {"people", "role_collision", "role_absent"}
    problems = [str(violation) for violation in validate.validate(scene) if violation.code in codes]
    if not has_roles and len(people.acting_people(given["sentence"])) > people.MOST_PEOPLE:
        problems.append("more than two people act")
    return problems


def _adjudication(given: Mapping[str, Any], right: Mapping[str, Any]) -> str | None:
    if not {"first_order", "second_order_raw"} <= set(given) <= {"first_order", "second_order_raw", "versions"}:
        return f"unknown shape: adjudication {sorted(given)}"
    result = adjudicate(given["first_order"], given["second_order_raw"], given.get("versions", 2))
    value = "same item" if result.consistent else "inconsistent"
    return None if value == right["value"] else f"expected {right['value']!r}, found {value!r}"
