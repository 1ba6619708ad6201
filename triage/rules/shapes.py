"""What may stand in a rule file, said once: the loader checks keys against it, the JSON Schemas and the reference
of the documentation are made from it."""

from __future__ import annotations

from triage.rules.chips import ONE, WORD
from triage.rules.kinds import Either, Flag, Key, Many, Named, Number, Ref, Shape, Text

FACT_ID = r"^[a-z][a-z0-9_]*$"
LIMITER_ID = r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$"
# No name before the host: https://docs.nvidia.com@elsewhere.org leads elsewhere.
URL = r"^https://[^\s/?#@\\<>\"'`]+([/?#][^\s\\<>\"'`]*)?$"

TEXT = Text()
FACT = Text("the id of a fact", pattern=FACT_ID)
LIMITER = Text("the id of a limiter", pattern=LIMITER_ID)
CHIPS = Text(
    "compute capabilities: '9.0', '>=8.6', '<7.0', '7.0-8.0', '9.*', several separated by spaces",
    pattern=rf"^ *{WORD}( +{WORD})* *$",
)
CHIP = Text("a compute capability: '9.0'", pattern=f"^{ONE}$")
FORMULA = Either((Text("arithmetic over metrics and facts: + - * /, min, max, ceil"), Number()))
CONDITION = Ref("condition")
LIMIT = Either((Number(), Text("the name of a threshold")))

COMPARISON_KEYS = {
    "fact": Key(FACT, "The fact that is compared.", required=True),
    "at_least": Key(LIMIT, "Holds when the fact is this or more."),
    "above": Key(LIMIT, "Holds when the fact is more than this."),
    "below": Key(LIMIT, "Holds when the fact is less than this."),
    "at_most": Key(LIMIT, "Holds when the fact is this or less."),
    "source": Key(TEXT, "Where a number that is written here comes from; named thresholds have their own source."),
}
COMPARISON = Shape("comparison", "a comparison", COMPARISON_KEYS)
ALL = Shape("all", "'all'", {"all": Key(Many(CONDITION, least=1), "Every one of these must hold.", required=True)})
ANY = Shape("any", "'any'", {"any": Key(Many(CONDITION, least=1), "One of these must hold.", required=True)})
NOT = Shape("not", "'not'", {"not": Key(CONDITION, "This must not hold.", required=True)})
CONDITION_KIND = Either((COMPARISON, ALL, ANY, NOT))

FIX = Shape(
    "fix",
    "a fix",
    {
        "try": Key(TEXT, "What to do.", required=True),
        "effort": Key(
            Text("effort", choices=("small", "medium", "large")), "A line, one kernel, or algorithm and data layout."
        ),
    },
)
LINK = Shape(
    "link",
    "an entry of 'see'",
    {
        "title": Key(TEXT, "What is linked.", required=True),
        "url": Key(Text("a link", pattern=URL), "Where it is; https only.", required=True),
    },
)
HEADROOM = Shape(
    "headroom",
    "'headroom'",
    {
        "at_most": Key(FORMULA, "The largest speed-up that removing the limiter can bring, as a factor."),
        "because": Key(TEXT, "Why no more, or why no bound holds.", required=True),
    },
)
EXAMPLE = Shape(
    "example",
    "'example'",
    {
        "before": Key(Text("CUDA", lines=True), "A few lines of CUDA that have the problem.", required=True),
        "after": Key(Text("CUDA", lines=True), "The same lines, repaired.", required=True),
    },
)
CONFUSION = Shape(
    "confusion",
    "an entry of 'confused_with'",
    {
        "limiter": Key(LIMITER, "The limiter that looks alike.", required=True),
        "tell": Key(TEXT, "How to tell them apart.", required=True),
    },
)
CASE = Shape(
    "case",
    "a test",
    {
        "name": Key(TEXT, "What the case shows; one stands at a threshold and says so.", required=True),
        "facts": Key(Named(Number(), FACT_ID), "Facts of the case; what is left out was not collected.", required=True),
        "expect": Key(
            Text("verdict", choices=("fires", "clear", "unknown")), "What the rule alone says.", required=True
        ),
    },
)
LIMITER_FILE = Shape(
    "limiter",
    "a limiter",
    {
        "id": Key(LIMITER, "Words of a-z and 0-9 joined by '-'; the file is called after it.", required=True),
        "title": Key(TEXT, "A noun phrase of a few words.", required=True),
        "family": Key(
            Text("family", choices=("launch", "latency", "memory", "compute", "balance")),
            "What kind of limiter it is; colours and gates go by it.",
            required=True,
        ),
        "status": Key(
            Text("status", choices=("draft", "stable", "retired")),
            "A retired limiter is never said; of a stable one the linter asks more than of a draft.",
            required=True,
        ),
        "when": Key(CONDITION, "When it holds.", required=True),
        "veto": Key(CONDITION, "Clears the rule where it is known to hold; unknown, it lowers the confidence."),
        "contributes": Key(CONDITION, "When it is worth naming behind another limiter; without it, when it fires."),
        "strength": Key(FACT, "The fact that orders several limiters that hold.", required=True),
        "evidence": Key(TEXT, "The sentence that states it, with {fact} where a value belongs.", required=True),
        "because": Key(TEXT, "What happens in the hardware.", required=True),
        "fixes": Key(Many(Either((FIX, TEXT)), least=1), "What to try, first things first.", required=True),
        "unless": Key(Many(TEXT, alone=True), "When the fixes do not apply."),
        "experiment": Key(TEXT, "The quick experiment that settles a doubtful verdict."),
        "lines": Key(Many(TEXT, alone=True), "Per-line metrics of ncu that hold what the limiter is about."),
        "headroom": Key(HEADROOM, "How much removing it can bring."),
        "example": Key(EXAMPLE, "The fix as code, before and after."),
        "library": Key(TEXT, "When a library or Triton already solves it."),
        "confused_with": Key(Many(CONFUSION), "What it is taken for, and how to tell."),
        "proof": Key(Many(TEXT, alone=True), "Calibration kernels that have this limiter by construction."),
        "see": Key(Many(LINK), "Where to read on.", required=True),
        "tests": Key(Many(CASE, least=1), "Cases: one fires, one is clear, one unknown, one at a threshold.", True),
    },
)

ALTERNATIVE = Shape(
    "way",
    "an alternative",
    {
        "use": Key(FORMULA, "A metric of ncu, or arithmetic over metrics and facts.", required=True),
        "cc": Key(CHIPS, "The chips it holds for."),
        "when": Key(CONDITION, "The condition it holds under."),
        "collect": Key(Flag(), "false: read where a report holds it, never worth a pass."),
    },
)
FACT_ENTRY = Shape(
    "fact",
    "a fact",
    {
        "label": Key(TEXT, "How a person calls it.", required=True),
        "unit": Key(TEXT, "ns, byte, byte/s, hz, %, sector, ...; '' for a plain number.", required=True),
        "says": Key(TEXT, "One sentence.", required=True),
        "from": Key(Many(Either((ALTERNATIVE, FORMULA)), alone=True), "Ways to get it, best first."),
        "largest_of": Key(Many(FACT, alone=True), "It is the largest of these facts."),
        "optional": Key(Many(FACT, alone=True), "Those of 'largest_of' that may be missing."),
        "sum_of_known": Key(Many(FACT, alone=True), "It is the sum of those of these that were collected."),
        "at_most": Key(Many(FORMULA, alone=True), "Upper bounds where it was not measured itself."),
        "at_least": Key(Many(FORMULA, alone=True), "Lower bounds where it was not measured itself."),
        "when_nothing": Key(TEXT, "What to say instead of 0."),
        "collect": Key(Flag(), "false: never worth a pass."),
        "each": Key(Many(TEXT), "One fact for each word; {} in id, texts and formulas is the word."),
    },
)
FACTS = Named(FACT_ENTRY, r"^[a-z][a-z0-9_{}]*$")
COUNTERS = Key(Many(TEXT), "Counters that exist although triage does not know them; without roll-up.")
FACTS_FILE = Shape(
    "facts",
    "facts.yaml",
    {"facts": Key(FACTS, "Canonical quantities by id.", required=True), "counters": COUNTERS},
)

OTHER_VALUE = Shape(
    "value",
    "a value of a profile",
    {
        "value": Key(Number(), "The number.", required=True),
        "source": Key(TEXT, "Where it comes from.", required=True),
    },
)
PROFILE = Shape(
    "profile",
    "a profile",
    {
        "says": Key(TEXT, "Whose cut-offs these are."),
        "values": Key(Named(OTHER_VALUE, FACT_ID), "Values of this profile, by threshold."),
        "changes": Key(Many(TEXT), "The thresholds that this profile changes, all of them."),
    },
)
THRESHOLD = Shape(
    "threshold",
    "a threshold",
    {
        "value": Key(Number(), "The number, in the unit of the facts that it is compared with.", required=True),
        "unit": Key(TEXT, "Its unit; '' for a plain number. One that replaces another keeps the unit of that."),
        "source": Key(TEXT, "Where the number comes from.", required=True),
    },
    extra=OTHER_VALUE,
)
THRESHOLDS = Named(THRESHOLD, FACT_ID)
THRESHOLDS_FILE = Shape(
    "thresholds",
    "thresholds.yaml",
    {
        "profiles": Key(Named(PROFILE, FACT_ID), "Other columns: a threshold may hold a value for each."),
        "thresholds": Key(THRESHOLDS, "Numbers that rules compare with, by name.", required=True),
    },
)

RIVAL = Shape(
    "rival",
    "a rival",
    {
        "limiter": Key(Text("a limiter, or a group of 'rivals'"), "The rival that may hide behind it.", required=True),
        "unless": Key(CONDITION, "What rules the rival out even where it was not measured."),
        "where": Key(CONDITION, "Only where this is known to hold does the unmeasured rival block."),
    },
)
RIVALS = Many(Either((RIVAL, Text("a limiter, or a group of 'rivals'"))))
ANSWER = Shape(
    "answer",
    "an answer",
    {
        "limiter": Key(LIMITER, "The limiter that this question may end in.", required=True),
        "when": Key(CONDITION, "What must hold beside its own rule."),
        "blocked_by": Key(RIVALS, "Rivals that make the answer undecided while they are unknown."),
    },
)
ANSWERS = Many(Either((ANSWER, LIMITER)))
QUESTION_KEYS = {
    "id": Key(TEXT, "How reports and other files call the question.", required=True),
    "decision": Key(Either((TEXT, Number())), "The decision of NVIDIA's guide it belongs to.", required=True),
    "ask": Key(TEXT, "The question.", required=True),
    "gate": Key(CONDITION, "What must hold for its answers to count."),
    "pick": Key(Text("pick", choices=("first", "largest")), "The first answer that holds, or the strongest."),
    "answers": Key(ANSWERS, "The limiters that it may end in."),
    "shows": Key(Many(FACT, alone=True), "Facts that are shown with the answer."),
    "covered": Key(Flag(), "false: no kernel report can answer it."),
    "note": Key(TEXT, "What to know about it."),
}
QUESTION = Shape("question", "a question", QUESTION_KEYS)
PLACED = Shape(
    "new_question",
    "a new question",
    {
        **QUESTION_KEYS,
        "after": Key(TEXT, "The question it follows."),
        "before": Key(TEXT, "The question it precedes."),
    },
)
ADDITION = Shape(
    "addition",
    "an addition",
    {
        "to": Key(TEXT, "The question that gets more answers.", required=True),
        "answers": Key(ANSWERS, "The limiters that it may also end in.", required=True),
        "at": Key(Text("at", choices=("first", "last")), "Before or behind the answers it has; last by default."),
    },
)
QUESTIONS = Many(Either((ADDITION, PLACED)))
PATH_FILE = Shape(
    "path",
    "path.yaml",
    {
        "rivals": Key(Named(RIVALS), "Named groups of rivals."),
        "path": Key(Many(QUESTION), "Every question, in order; replaces the path of earlier rules."),
        "questions": Key(QUESTIONS, "More questions, and more answers to questions that are there."),
    },
)
