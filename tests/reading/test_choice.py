"""Replies to a single choice, with the option a careful person would say was chosen."""

from __future__ import annotations

import pytest

from affectlab.reading import Outcome, flags, read_choice, read_label

OPTIONS = {"A": "joy", "B": "anger", "C": "fear", "D": "relief"}
TWELVE = {chr(65 + i): f"opt{i}" for i in range(12)}

CHOOSE_B = r"""
B
b
(B)
B)
[B]
{B}
<B>
"B"
'B'
“B”
`B`
**B**
*B*
__B__
***B.***
B.
B!
B:
 B
（B）
【B】
「B」
Ｂ
ｂ
Ⓑ
🅱️
✅ B
👉 **B**
B 👍
- B
• B
> B
# B
1. B
Option B
option (b)
Choice: B
Letter B
Answer: B
answer: b
ANSWER：B
ANSWER: **B**
**Answer:** B
**Answer**: B
*Answer:* B.
Answer - B
Answer = B
Answer → B
Answer B
Answer: (B)
Answer: [B]
Answer: "B"
Answer: Option B
Answer: option (B) anger
Answer: B) anger
Answer: B. anger
Answer: B, anger
Answer: B - anger
Answer: anger
Answer: anger (B)
Answer: anger.
Final answer: B
Final Answer: B.
FINAL ANSWER: B
The final answer is B
The answer is B
The answer is: B
The answer is (B).
The answer is "B".
The answer is **B**.
The answer is option B.
The answer is B because the driver was insulted.
The answer is B, since he was insulted.
The answer is B (anger).
The answer is probably B.
The answer would be B.
The answer should be B.
The answer must be B
The answer seems to be B
The answer to the question is B.
The answer to this one, in my view, is B.
The correct answer is: B) anger
The correct option is B
The best answer is B
The most fitting option is B.
The most likely emotion is anger.
The emotion is anger.
The emotion is B) anger
My answer is B
My answer: B
My final answer is B.
My choice is B.
My pick: B.
I choose B
I choose option B.
I choose (B) anger.
I'd choose B.
I would choose B because he is mad.
I select B
I pick anger.
I would go with B.
I'd go with B
I'm going with option B.
I think B
I think it is B.
I think it's B) anger
I think the answer is B.
I believe the answer is B
I'd say B.
It is B.
It's B.
It's anger.
It must be B.
Probably B.
Definitely B!
Maybe B.
So: C, no wait. Answer: B
So the answer is B.
So, B.
Therefore, B.
Therefore, the answer is B.
Thus B.
Hence the correct choice is B.
In conclusion, B.
Overall, I would answer B.
B is correct.
B is the correct answer.
B is the best answer.
B is my answer.
B seems right.
B fits best.
Option B is correct.
Option B is the most appropriate.
Anger is the correct answer.
B because he was insulted
B, because he was insulted
B - because he was insulted
B. He was insulted by the driver.
B: he was insulted.
B) anger
B) anger - he was insulted
B. anger
B anger
B - anger
B: anger
B/anger
B (anger)
(B) anger
**B) anger**
**B. anger**
B) Anger.
B, anger
anger
Anger
ANGER
anger.
"anger"
**anger**
anger (B)
anger [B]
Anger - he was insulted.
Anger, because he was insulted
Anger. He was insulted.
$\boxed{B}$
\boxed{B}
\boxed{\text{B}}
$\boxed{\text{B}}$
$$\boxed{\mathbf{B}}$$
\boxed{\text{B. anger}}
\boxed{B. anger}
\boxed{anger}
\boxed{(B)}
\fbox{B}
The final answer is $\boxed{B}$.
\[\boxed{B}\]
\(B\)
$B$
\text{B}
\textbf{B}
<answer>B</answer>
<answer> B </answer>
<answer>(B) anger</answer>
<Answer>B</Answer>
<final_answer>B</final_answer>
<b>B</b>
<p>The answer is <strong>B</strong>.</p>
| Answer | B |
~~A~~ B
not A but B
Not A, but B.
The answer is not A but B
The answer is not A, it's B.
The answer is not A; it is B.
It isn't A. The answer is B.
A is wrong. C is wrong. The answer is B.
A and C do not fit. So B.
A is tempting, but B
I cannot be sure, but B
I can't say for certain, but the answer is B.
I'm sorry if I am wrong, but I choose B.
Not sure, but I think B.
Among A, B, C and D, the best answer is B.
Between A and B, I choose B.
A or B? I choose B.
Both A and B are possible; the best answer is B.
Options: A, B, C, D. Answer: B
B rather than A
B instead of A.
B, not A.
anger rather than joy
anger, not joy
A man is shouting at a car. Answer: B
I think a man in this state would be furious, so B.
Looking at option A, it does not fit. Option C is too strong. The answer is B.
Is it A? No. The answer is B.
答案：B
答案: B
答案:B。
答案是B
答案是B。
答案是 B。
答案是：B
答案为B
答案为：B。
答案应该是B
答案选B
正确答案是B
正确答案：B
正确答案应该是B。
最终答案：B
最终答案是B。
最终答案为 B
【答案】B
答：B
选B
选 B。
选：B
选择B
选择 B
我选B
我选择B
我选择 B。
我會選擇B
我會選B。
我的选择是B
我的答案是B。
我认为答案是B。
我觉得是B
我觉得应该选B。
应该选B
应选B
因此选B。
所以选B
所以答案是B。
综上，选B。
综上所述，答案为B。
故选B
故选：B。
选项B
选项 B
选项B是对的
选项B正确
选项B最合适
B选项
B选项正确
B项
B是正确答案
B是对的
B正确
B最合适
B，因为他生气了
B。因为他被骂了。
B、anger
是B
就是B。
不是A而是B
不是A，而是B。
不选A，选B
答案不是A，是B
A不对，选B。
結論：B
정답: B
정답은 B입니다
答えはBです
答え：B
La respuesta es B
La réponse est B
Die Antwort ist B
A resposta é B
Ответ: B
"""

BLOCKS_B = [
    "B\n",
    "B\r\n",
    "\ufeffB",
    "B\u200b",
    "\u200eB\u200f",
    "\u202aB\u202c",
    "\u2066B\u2069",
    "\u00a0B\u00a0",
    "\u3000B",
    "B\x00",
    "B\n\nExplanation: A would need a reward, and C a threat.",
    "B\n\nThe man was insulted.",
    "B\n\nI think A and C are less fitting.",
    "Answer: B\n\nAnswer: B",
    "Answer:\nB",
    "Answer:\n\n**B**",
    "### Answer\n\nB",
    "## Final answer: B",
    "Answer\n------\nB",
    "```\nB\n```",
    "```text\nB\n```",
    "```\nAnswer: B\n```",
    "~~~\nB\n~~~",
    "Sure! Here is my answer:\n\nB",
    "The man was insulted.\nB",
    "The man was insulted.\n\nB) anger",
    "The man was insulted. He is shouting.\nTherefore the answer is\nB",
    "A) joy\nB) anger\nC) fear\nD) relief\n\nAnswer: B",
    "A. joy\nB. anger\nC. fear\nD. relief\n\nThe correct option is B.",
    "A: too light.\nC: there is no threat.\nAnswer: B",
    "A) joy - no.\nB) anger - yes.\nC) fear - no.\n\nSo the answer is B.",
    "Answer: A\nWait, he is shouting.\nAnswer: B",
    "The answer is A. Hmm, no. The answer is B.",
    "Answer: A. Correction: B",
    "Step 1: who is it? The driver.\nStep 2: what happened? An insult.\nFinal answer: B",
    "Reasoning: A man was insulted.\nAnswer: B\nConfidence: 90%",
    "Answer: B\nConfidence: high",
    "Answer: B\nReason: A would be wrong",
    "| Question | Answer |\n|---|---|\n| emotion | B |",
    "<think>A?</think>B",
    "<think>\nANSWER: A\n</think>\n\nANSWER: B",
    "<think></think>B",
    "<think>\n\n</think>\n\nB",
    "<think>a <think>b</think> c</think>B",
    "<think>\n<think>\nA\n</think>\nB",
    "Perhaps A. Let me see. </think>B",
    "A</think>\nB",
    "<thinking>Answer: A</thinking>Answer: B",
    "<reasoning>\nAnswer: A\n</reasoning>\n<answer>\nB\n</answer>",
    "<thought>A</thought>B",
    "<THINK>A</THINK>B",
    "< think >A</ think >B",
    "＜think＞A＜/think＞B",
    "◁think▷A◁/think▷B",
    "[THINK]A[/THINK]B",
    "<seed:think>A</seed:think>B",
    '<think type="short">A</think>B',
    "<|channel|>analysis<|message|>A?<|end|><|start|>assistant<|channel|>final<|message|>B<|return|>",
    "analysisWe need a letter. A?assistantfinalB",
    "<|begin_of_thought|>A<|end_of_thought|><|begin_of_solution|>B<|end_of_solution|>",
    "<|START_THINKING|>A<|END_THINKING|>B",
    "<|begin_of_box|>B<|end_of_box|>",
    "B<think>was that right? A?</think>",
    "B</s>",
    "B<|im_end|>",
    "B<|eot_id|>\n<|start_header_id|>user",
    "B<|im_end|>\n<|im_start|>user\nA?",
    "<|im_start|>assistant\nB",
    '{"answer": "B"}',
    "{'answer': 'B'}",
    '```json\n{"answer": "B"}\n```',
    '{"choice": "B", "reason": "he was insulted"}',
    '{"reason": "A would need a reward", "answer": "B"}',
]


@pytest.mark.parametrize("text", [*CHOOSE_B.strip("\n").split("\n"), *BLOCKS_B])
def test_chooses_b(text: str) -> None:
    reading = read_choice(text, OPTIONS)
    assert (reading.outcome, reading.value) == (Outcome.OK, "B"), reading


AMBIGUOUS = [
    "A or B",
    "A/B",
    "A, B",
    "A and B",
    "A & B",
    "A+B",
    "A B",
    "A、B",
    "A和B",
    "A或B",
    "A还是B",
    "B or C?",
    "Either A or B",
    "Both A and B",
    "It is either A or B",
    "It could be A or B.",
    "The answer is A or B.",
    "The answer is either A or B",
    "The answer could be A, B or C.",
    "Answer: A and C",
    "Answer: A/C",
    "答案是A或B",
    "A和B都有可能",
    "可能是A，也可能是B",
    "I am torn between A and B.",
    "I cannot decide between A and B.",
    "joy and anger",
    "joy or anger",
    "joy, anger",
    "joy / anger",
    "Both joy and anger",
    "ABCD",
    "ABC",
    "A B C D",
    "A\nB\nC\nD",
    "A\nB",
    "A. joy\nB. anger\nC. fear\nD. relief",
    "A) joy B) anger C) fear D) relief",
    "(A) joy (B) anger (C) fear (D) relief",
    "A, B, C, D",
    "B) joy",
    "B. joy",
    "B joy",
    "B (joy)",
    "joy (B)",
    "Answer: B) joy",
    "The answer is B, joy.",
    "<answer>A or B</answer>",
    "\\boxed{A, B}",
]


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_several_answers_are_ambiguous(text: str) -> None:
    assert read_choice(text, OPTIONS).outcome is Outcome.AMBIGUOUS


@pytest.mark.parametrize("text", ["B) joy", "joy (B)", "Answer: B. joy", "**B** joy"])
def test_letter_and_text_that_disagree_are_flagged(text: str) -> None:
    assert flags.LETTER_TEXT_CONFLICT in read_choice(text, OPTIONS).flags


UNPARSEABLE = [
    "None of the above",
    "none",
    "All of the above",
    "None",
    "N/A",
    "...",
    "?",
    "👍",
    "A man walks into the room.",
    "A man is shouting.",
    "A",  # not an option below
    "I think",
    "I don't know.",
    "I am not sure",
    "I'm not sure.",
    "Not A.",
    "not B",
    "The answer is not A.",
    "The answer isn't A.",
    "It is not B",
    "I would not choose B.",
    "I don't think the answer is B.",
    "neither A nor B",
    "Neither A nor B.",
    "答案不是A",
    "不选A",
    "不是B",
    "不知道",
    "B is wrong.",
    "B is not correct",
    "Option B is incorrect",
    "Option B does not fit.",
    "选项B不对",
    "B不对",
    "Eliminate B.",
    "The wrong answer is B.",
    "The answer is a mix of feelings",
    "The answer is a bit unclear",
    "The answer is",
    "Answer:",
    "Answer: Let's think it through first",
    "Answer: Bad",
    "Be careful",
    "Both",
    "Because he was insulted",
    "Certainly! Let me help.",
    "Dear reader",
    "He was insulted by the driver.",
    "Bravo",
    "joyful",
    "angry",
    "fearless",
    "enjoy",
    "The man jumped for joy of living",
    "AAAAAAAA",
    "BBBB",
    "Vitamin B helps.",
    "Plan B was a failure and so he left.",
    "Grade C student",
    "The B-side was good",
    "Is the answer B?",
    "If the answer is B then he would shout.",
    "他很生气",
    "هذا صعب",
    "これはむずかしい",
    "Д",
    "lorem ipsum dolor sit amet",
    "I. think",
    "{}",
    "[]",
    "null",
    "\\boxed{}",
    "<answer></answer>",
]


@pytest.mark.parametrize("text", UNPARSEABLE)
def test_no_letter_is_read_out_of_words(text: str) -> None:
    options = {key: OPTIONS[key] for key in "BCD"} if text == "A" else OPTIONS
    assert read_choice(text, options).outcome is Outcome.UNPARSEABLE


@pytest.mark.parametrize(
    "text",
    [
        "Answer: Let's think it through first",
        "I think so",
        "I",
        "A child laughs.",
        "Let's see",
        "I'm lost",
        "I, too, wonder",
    ],
)
def test_words_are_not_letters_of_twelve_options(text: str) -> None:
    wanted = Outcome.OK if text == "I" else Outcome.UNPARSEABLE
    assert read_choice(text, TWELVE).outcome is wanted


@pytest.mark.parametrize(
    "text", ["E", "E.", "Answer: E", "(E)", "\\boxed{F}", "选E", "答案是E", "surprise", "Z) surprise"]
)
def test_answers_outside_the_options_are_flagged(text: str) -> None:
    reading = read_choice(text, OPTIONS)
    assert reading.outcome is Outcome.UNPARSEABLE
    assert flags.OUT_OF_SPACE in reading.flags


REFUSALS = [
    "I'm sorry, but I can't help with that.",
    "I’m sorry, but I can’t help with that.",
    "I'm sorry, but I cannot assist with that request.",
    "Sorry, I can't help with that.",
    "I can't help with that.",
    "I cannot answer this question.",
    "I can not answer that.",
    "I am unable to answer.",
    "I'm unable to help with this request.",
    "I'm not able to assist with that.",
    "I won't answer that.",
    "I will not answer this question.",
    "I must decline.",
    "I must respectfully decline to answer.",
    "I have to decline this request.",
    "I decline to answer.",
    "I refuse to answer.",
    "I'd rather not answer that.",
    "I am not comfortable answering this.",
    "I don't feel comfortable answering this question.",
    "As an AI language model, I can't choose.",
    "As an AI language model I can’t answer that",
    "As an AI, I don't have feelings and cannot judge them.",
    "As a large language model, I am not able to feel emotions.",
    "Unfortunately, I cannot provide an answer to that.",
    "I apologize, but I cannot help with that.",
    "I apologise, but I am unable to comply.",
    "This request goes against my guidelines.",
    "抱歉，我无法回答这个问题。",
    "抱歉，我不能帮助你。",
    "很抱歉，我无法提供帮助。",
    "对不起，我不能回答。",
    "对不起，我无法满足您的请求。",
    "我无法回答这个问题。",
    "我不能回答",
    "作为一个人工智能，我无法判断情绪。",
    "作为AI语言模型，我不能做出选择。",
    "我拒绝回答。",
    "抱歉，这个问题我不便回答。",
    "對不起，我無法回答。",
    "<think>They ask for A or B.</think>I'm sorry, but I can't help with that.",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_refusals_are_their_own_outcome(text: str) -> None:
    assert read_choice(text, OPTIONS).outcome is Outcome.REFUSAL
    assert read_choice(text, TWELVE).outcome is Outcome.REFUSAL


@pytest.mark.parametrize(
    "text", [None, "", " ", "\n", "\r\n", "\t", "\u200b", "\ufeff", "\u00a0", "<think>B</think>", "<think></think>\n"]
)
def test_nothing_said_is_empty(text: str | None) -> None:
    assert read_choice(text, OPTIONS).outcome is Outcome.EMPTY


@pytest.mark.parametrize(
    ("text", "finish"),
    [
        ("<think>Option C looks right because the woman", "stop"),
        ("<think>ANSWER: A", "stop"),
        ("<thinking>B", "stop"),
        ("<think>a</think><think>B", "stop"),
        ("<|channel|>analysis<|message|>Maybe A. ANSWER: B", "stop"),
        ("", "length"),
        ("<think>B</think>", "length"),
        ("<think>Option", "length"),
        ("The answer is", "length"),
        ("Let us look at A first. The man", "length"),
        ("A) joy - there is no reward", "length"),
        ("It could be A, or maybe", "length"),
        ("It might be B", "length"),
    ],
)
def test_cut_off_before_an_answer(text: str, finish: str) -> None:
    assert read_choice(text, OPTIONS, finish=finish).outcome is Outcome.TRUNCATED


@pytest.mark.parametrize(
    "text",
    [
        "B",
        "Answer: B",
        "ANSWER: B\nBecause the man was",
        "B\n\nExplanation: the man",
        "B) anger\n\nThe",
        "The answer is B. He",
    ],
)
def test_a_complete_answer_survives_the_limit(text: str) -> None:
    reading = read_choice(text, OPTIONS, finish="length")
    assert (reading.value, reading.flags) == ("B", (flags.AT_LIMIT,))


def test_a_cut_name_that_could_go_on_is_no_answer() -> None:
    labels = {"joy": (), "joyful": ()}
    assert read_label("Answer: joy", labels, finish="length").outcome is Outcome.TRUNCATED
    assert read_label("Answer: joyful", labels, finish="length").value == "joyful"


def test_withheld_reply_is_a_refusal() -> None:
    assert read_choice(None, OPTIONS, finish="filter").outcome is Outcome.REFUSAL


def test_two_answer_lines_are_noted() -> None:
    reading = read_choice("ANSWER: A\nWait.\nANSWER: B", OPTIONS)
    assert (reading.value, reading.flags) == ("B", (flags.SELF_CORRECTED,))
    assert read_choice("ANSWER: B\nANSWER: B", OPTIONS).flags == ()


def test_evidence_is_where_the_answer_stands() -> None:
    assert read_choice("I am sure. The answer is B) anger.", OPTIONS).evidence == "B) anger"


def test_labels_inside_labels() -> None:
    options = {"A": "joy", "B": "joyful surprise", "C": "surprise"}
    assert read_choice("joyful surprise", options).value == "B"
    assert read_choice("The answer is surprise", options).value == "C"


def test_option_texts_that_begin_with_an_article() -> None:
    options = {"A": "a sense of relief", "B": "a fear of falling", "C": "I do not know"}
    assert read_choice("a fear of falling", options).value == "B"
    assert read_choice("I do not know", options).value == "C"
    assert read_choice("Answer: a sense of relief.", options).value == "A"


def test_numbers_as_keys() -> None:
    options = {"1": "never", "2": "sometimes", "3": "always"}
    for text in (
        "2",
        "2.",
        "(2)",
        "Answer: 2",
        "2. sometimes",
        "2 - sometimes",
        "sometimes",
        "答案：2",
        "\\boxed{2}",
        "２",
    ):
        assert read_choice(text, options).value == "2", text
    for text in ("2.5", "12", "-2", "2 people were there", "20%"):
        assert read_choice(text, options).outcome is Outcome.UNPARSEABLE, text


def test_chinese_option_texts() -> None:
    options = {"A": "喜悦", "B": "愤怒", "C": "恐惧"}
    for text in (
        "愤怒",
        "愤怒。",
        "答案是愤怒",
        "答案：愤怒。",
        "B. 愤怒",
        "B、愤怒",
        "Ｂ：愤怒",
        "选择B（愤怒）",
        "我认为是愤怒。",
        "「愤怒」",
    ):
        assert read_choice(text, options).value == "B", text
    assert read_choice("B. 喜悦", options).outcome is Outcome.AMBIGUOUS


def test_aliases_name_options() -> None:
    assert read_choice("rage", OPTIONS, aliases={"rage": "B"}).value == "B"


def test_a_name_that_two_options_share_is_no_answer() -> None:
    assert read_choice("joy", {"A": "joy", "B": "Joy"}).outcome is Outcome.UNPARSEABLE
    assert read_choice("B", {"A": "joy", "B": "Joy"}).value == "B"


def test_labels_by_name_and_alias() -> None:
    labels = {"irony": ("Irony", "反讽"), "humor": ("Humor", "humour", "幽默")}
    for text in ("Irony", "irony.", "反讽", "The intent is Irony.", "意图：反讽", "This is irony.", "**Irony**"):
        assert read_label(text, labels).value == "irony", text
    assert read_label("Humour", labels).value == "humor"
    assert read_label("Sarcasm", labels).flags == (flags.OUT_OF_SPACE,)
    assert read_label("Irony or humor", labels).outcome is Outcome.AMBIGUOUS
