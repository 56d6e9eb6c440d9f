"""Chiaro's prompts, in our own words to the structure of Appendix K.

A system turn states the task and the reply format; a user turn gives the sentence and, for each agent asked about,
the role and the lettered options.
"""

from __future__ import annotations

from affectlab.benchmarks.prompt import PromptTemplate

JOINT_SYSTEM = (
    "You will read a short scene in which one event leaves two people with opposite feelings. "
    "For each of the two, pick the option that best names what that person feels.\n"
    "Reply with exactly two lines and nothing more:\n"
    "AGENT A: <letter>\n"
    "AGENT B: <letter>"
)

COT_SYSTEM = (
    "You will read a short scene in which one event leaves two people with opposite feelings. "
    "For each of the two, pick the option that best names what that person feels.\n"
    "First think it through in a few sentences: what the event means for each person's goals, who or what brought it "
    "about, and whether anything is still uncertain for them. Then end your reply with exactly these two lines:\n"
    "AGENT A: <letter>\n"
    "AGENT B: <letter>"
)

SEPARATE_SYSTEM = (
    "You will read a short scene in which one event leaves two people with opposite feelings. "
    "You are asked about one of them. Pick the option that best names what that person feels.\n"
    "Reply with exactly one line and nothing more:\n"
    "ANSWER: <letter>"
)

OPEN_SYSTEM = (
    "You will read a short scene in which one event affects two people. "
    "For each of the two, pick the option that best names what that person feels.\n"
    "Reply with exactly two lines and nothing more:\n"
    "AGENT A: <letter>\n"
    "AGENT B: <letter>"
)

JOINT_USER = PromptTemplate(
    "Scene: {sentence}\n\n"
    "Agent A: {role_a}\n"
    "What does Agent A feel?\n"
    "{options_a}\n\n"
    "Agent B: {role_b}\n"
    "What does Agent B feel?\n"
    "{options_b}",
    fields=("sentence", "role_a", "options_a", "role_b", "options_b"),
)

SEPARATE_USER = PromptTemplate(
    "Scene: {sentence}\n\nThe person asked about: {role}\nWhat does this person feel?\n{options}",
    fields=("sentence", "role", "options"),
)

ANSWER_PREFIX = "ANSWER:"
"""What the assistant's turn starts with when options are scored by likelihood."""
