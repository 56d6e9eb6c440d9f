"""Telling a model that declines from one that answers badly."""

from __future__ import annotations

import re
from typing import Final

_ACTS: Final = (
    r"help|assist|answer|respond|comply|provide|give|offer|share|engage|discuss|do (?:that|this|so)|choose|select|pick|"
    r"fulfil?l?|continue|participate|support|generate|create|make|complete|take part|infer|identify|classify|label|"
    r"determine|judge|assess|evaluate|analy[sz]e|speculate|say|tell|process|rate|"
    r"proceed|perform|talk|role-?play|recommend|advise|in good conscience"
)
_REFUSAL: Final = re.compile(
    rf"\b(?:i|we)(?:'m| am|'re| are)? (?:\w+ )?(?:cannot|can ?not|can't|cant|won't|will not|could not|couldn't|"
    rf"(?:not|un)(?: able|able| allowed| permitted| willing| going| comfortable|willing)(?: to| with)?|"
    rf"do not|don't|must not|shouldn't|should not|"
    rf"(?:must|have to|need to|will|would)(?: \w+)? (?:decline|refuse)|decline|refuse|'d rather not|would rather not|"
    rf"would prefer not)"
    rf"(?: to| be able to| feel comfortable| in good conscience)?(?: \w+ly)?"
    rf"(?: (?:{_ACTS})|(?: with)? (?:that|this|your)\b|\W*$)"
    r"|\bi(?:'d| would) (?:rather|prefer to|prefer) not\b"
    r"|\b(?:must|have to|need to|will|would|respectfully|politely|i|i'll)(?: \w+ly)? (?:decline|refuse)\b"
    r"|\b(?:unable|not able) to (?:help|assist|answer|comply|provide|respond|continue|engage|fulfil|process|discuss)"
    r"|\bas an? (?:\w+ )?(?:ai|artificial intelligence|language model|assistant)\b[^.\n]{0,80}"
    r"(?:can't|cannot|can not|don't|do not|not able|unable|won't|not allowed|not appropriate|no (?:feelings|emotions))"
    r"|\b(?:i'm|i am|we're) (?:very |so |really |truly )?sorry\b[^.\n]{0,60}?(?:can't|cannot|can not|won't|"
    r"unable|not able|not comfortable|must decline|couldn't)"
    r"|\A\W*(?:i'm|i am) (?:very |so |really |truly )?sorry\W*\Z"
    r"|\bcannot (?:assist|help|comply|fulfil|fulfill)\b|\bcan't (?:assist|help|comply)\b"
    r"|\b(?:request|content|question|prompt) (?:violates|goes against|is against|is inappropriate|is not appropriate)"
    r"|\bagainst my (?:guidelines|programming|policy|policies|principles)\b"
    r"|(?:我|本人|作为)[^.\n!?]{0,30}?(?:无法|不能|不可以|没法|没有办法|無法|没办法)(?:[^.\n]{0,12}?)"
    r"(?:回答|帮|協助|协助|提供|处理|判断|选|完成|满足|继续|给出|讨论|評|评|做|生成|回應|回应|参与|進行|进行|执行|支持|确定|答|幫)"
    r"|(?:抱歉|对不起|對不起|很遗憾|不好意思)[^\n]{0,40}?(?:无法|不能|不可以|没法|拒绝|無法|拒絕|不便|不会|没有办法|不适合|不提供)"
    r"|\A\W*(?:非常|很|真的)?(?:抱歉|对不起|對不起)\W*\Z"
    r"|(?:我|必须|只能)(?:\w{0,4})(?:拒绝|拒絕|婉拒)|拒绝回答|拒絕回答|无可奉告|不予回答|不便回答|恕(?:我)?(?:不能|无法|难)"
    r"|\b(?:lo siento|je suis désolée?|es tut mir leid|desculpe|申し訳)[^.\n]{0,60}?"
    r"(?:no puedo|ne peux|kann|não posso|できません|ません)",
    re.IGNORECASE,
)


_ASSISTANT: Final = re.compile(
    r"\bas an? (?:\w+ )?(?:ai|artificial intelligence|language model|assistant)\b"
    r"|\b(?:i'm|i am|we're) (?:very |so |really |truly )?sorry\b[^.\n]{0,60}?"
    r"(?:can't|cannot|can not|won't|unable|not able|not comfortable|must decline|couldn't)"
    r"|\A\W*(?:i'm|i am) (?:very |so |really |truly )?sorry\W*\Z"
    r"|\b(?:cannot|can't|can not|won't|will not|unable to|not able to|not comfortable) "
    r"(?:help(?:ing)?|assist(?:ing)?|comply(?:ing)?|fulfil(?:l|ling)?|engag(?:e|ing)|participat(?:e|ing)|"
    r"role-?play(?:ing)?|provid(?:e|ing)|generat(?:e|ing))"
    r"(?: in| with)?(?: \w+){0,2}? (?:request|question|prompt|role-?play|content)\b"
    r"|\b(?:can't|cannot|can not) (?:assist|comply)\b"
    r"|\b(?:must|have to|respectfully|politely) (?:decline|refuse) to (?:answer|respond|comply|engage|help|role-?play)"
    r"|\b(?:request|content|question|prompt) (?:violates|goes against|is against|is inappropriate|is not appropriate)"
    r"|\bagainst my (?:guidelines|programming|policy|policies)\b"
    r"|作为(?:一个|一名)?(?:人工智能|AI|语言模型|助手)"
    r"|(?:抱歉|对不起|對不起|很遗憾|不好意思)[^\n]{0,40}?(?:无法|不能|没法|無法)[^.\n]{0,8}?(?:回答|协助|協助|提供|处理|完成|满足|生成|回應|回应|扮演)|拒绝回答|拒絕回答",
    re.IGNORECASE,
)


def is_refusal_in_person(text: str) -> bool:
    """Whether free text in somebody's voice is a refusal after all.

    People cannot tell, could not say no and will not go; only what an assistant alone would say is a refusal.

    Args:
        text: As :func:`is_refusal` takes it.
    """
    return _ASSISTANT.search(text[:600]) is not None


def is_refusal(text: str) -> bool:
    """Whether a reply without a readable answer declines to answer.

    Looks at the opening and the end of the reply (600 characters each): a refusal says so there, and a long reply
    that mentions what somebody in the story refuses to do is not one.

    Args:
        text: A folded reply without reasoning (``Prepared.text``).
    """
    if len(text) > 1200:
        text = text[:600] + "\n" + text[-600:]
    return _REFUSAL.search(text) is not None
