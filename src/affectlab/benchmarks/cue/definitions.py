"""What each label means, in one line of each prompt language, as the prompts show it."""

from __future__ import annotations

from collections.abc import Mapping

from affectlab.benchmarks.cue.settings import Language

# Label id -> (Chinese, English). Ours, to the distinctions of Appendices C and D of the paper.
_POLARITY = {
    "positive": ("表达喜悦、赞许、感谢、关心等", "joy, approval, thanks, care and the like"),
    "neutral": ("看不出情绪倾向", "no leaning can be told"),
    "negative": ("表达不满、责备、难过、担忧等", "displeasure, blame, sorrow, worry and the like"),
}
_STANCE = {
    "positive": ("字面是好话，心里也是好意", "kind words, kindly meant"),
    "formulaic_positive": (
        "客套、礼节或服务用语，字面热情，背后没有真实情感",
        "courtesy or routine; nothing is felt behind it",
    ),
    "sarcastic_negative": ("字面夸奖或叫好，实际在讽刺、责备", "praise on the surface that mocks or blames"),
    "understated_positive": ("话说得平淡，心里其实高兴、得意或关切", "plain words that hide pleasure, pride or care"),
    "neutral": ("只是陈述、询问或办事，没有情感倾向", "states, asks or arranges something, without a leaning"),
    "veiled_negative": (
        "话说得平淡，心里其实不满、难过或在施压",
        "plain words that hide displeasure, sorrow or pressure",
    ),
    "affiliative_positive": (
        "嘴上骂、抱怨或嫌弃，实际是亲近和疼爱",
        "scolding or grumbling that means closeness and care",
    ),
    "reportive_negative": ("客观转述坏消息，不带自己的情感", "bad news told as fact, without feelings of one's own"),
    "negative": ("字面是负面的，心里也是负面的", "harsh or painful words, meant as such"),
}
_INTENT = {
    "authenticity": ("直接说出自己的真实感受", "says outright what is felt"),
    "politeness": ("出于礼节、敬意或服务规范而说", "speaks for the sake of manners, respect or service"),
    "suppression": ("把真实感受藏起来，或往轻里说", "hides the feeling or plays it down"),
    "irony": ("说反话，意思与字面相反", "means the reverse of the words"),
    "resistance": ("拒绝、反对、施压或对抗", "refuses, opposes, presses or confronts"),
    "functional": ("告知、询问、说明或办理事务", "informs, asks, explains or gets something done"),
    "humor": ("逗趣、调侃、玩笑", "plays, teases or jokes"),
    "empathy": ("关心、安慰或支持对方", "cares for, comforts or stands by another"),
}
_EMOTION = {
    "love": ("喜爱、疼爱、亲近", "affection and closeness"),
    "delight": ("为眼前的好事高兴", "gladness at something good"),
    "pride": ("为自己或身边人的成就得意", "satisfaction in what one or one's own achieved"),
    "optimism": ("相信事情会好起来", "trust that things will go well"),
    "hope": ("盼着某件好事发生", "wish that something good may happen"),
    "curiosity": ("想知道更多", "wish to know more"),
    "submission": ("听从对方，顺着对方的意思", "going along with what another wants"),
    "awe": ("被宏大、高超或非凡的事物震住", "being overcome by something great or masterly"),
    "anxiety": ("担心将要发生的事", "worry about what may come"),
    "despair": ("觉得已经毫无办法", "seeing no way out"),
    "pessimism": ("认定事情不会变好", "certainty that things will not get better"),
    "shame": ("觉得自己丢脸、见不得人", "feeling exposed and small before others"),
    "guilt": ("觉得自己亏欠或伤害了别人", "feeling that one has wronged somebody"),
    "remorse": ("为做过的事痛悔，想挽回而不能", "pain over a deed that cannot be undone"),
    "disappointment": ("期待落空", "an expectation that was let down"),
    "outrage": ("因不公或恶行而愤怒", "anger at injustice or wickedness"),
    "aggression": ("想攻击、威胁或挑衅对方", "urge to attack, threaten or provoke"),
    "contempt": ("看不起对方", "looking down on somebody"),
    "dominance": ("要别人照自己说的做", "making others do as one says"),
    "envy": ("别人有而自己没有，心里发酸", "bitterness at what another has"),
    "cynicism": ("不相信善意和规则，看透并嘲讽世情", "disbelief in good motives, with scorn"),
    "morbidness": ("从别人的不幸里得到快意", "relish of another's misfortune"),
    "unbelief": ("不相信听到或看到的", "refusing to believe what is said or seen"),
    "sentimentality": ("因往事、离别或重逢而动情", "tenderness over the past, a parting or a reunion"),
    "neutral": ("看不出具体情绪", "no emotion can be told"),
}

DEFINITIONS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "explicit": _POLARITY,
    "implicit": _POLARITY,
    "stance": _STANCE,
    "intent": _INTENT,
    "emotion": _EMOTION,
}
"""Slot -> label id -> definition in Chinese and in English."""


def definition(slot: str, label: str, language: Language) -> str:
    """What a label of a slot means, in a prompt's language."""
    return DEFINITIONS[slot][label][0 if language == "zh" else 1]
