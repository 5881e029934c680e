"""Hypothesis strategies for rules and points, shared by the tests of the rule engine."""

from __future__ import annotations

from hypothesis import strategies as st

from hipad.rules import Condition, FeatureSpan, Rule, RuleSet, Term

LINE_TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=12
)
ODD_NAMES = LINE_TEXT.filter(lambda text: bool(text.strip()))
PLAIN_NAMES = st.sampled_from(
    [
        "a",
        "Glucose",
        "BMI",
        "x12",
        "K1",
        "p-36=t",
        "off",
        "normal",
        "over",
        "and",
        "at",
        "exactly",
        "min",
        "1007_s_at",
    ]
)
NAMES = PLAIN_NAMES | ODD_NAMES
FLOATS = st.floats(-1e6, 1e6).map(lambda x: x if abs(x) >= 1e-100 else 0.0)
NUMBERS = FLOATS | st.integers(-20, 20).map(float) | st.sampled_from([1e-100, 1e100])
GROUPS = st.lists(NAMES | st.builds(FeatureSpan, NAMES, NAMES), min_size=1, max_size=4).map(tuple)


@st.composite
def sides(draw: st.DrawFn, functions: tuple[str, ...] = ("mean", "sum")) -> tuple[Term, ...]:
    """One side with at least one feature."""
    features = st.builds(Term, NUMBERS, NAMES.map(lambda name: (name,)))
    calls = st.builds(Term, NUMBERS, GROUPS, st.sampled_from(functions))
    terms = draw(st.lists(features | calls | st.builds(Term, NUMBERS), min_size=1, max_size=4))
    return (*terms, draw(features | calls))


NUMBER_SIDES = NUMBERS.map(lambda number: (Term(number),))


@st.composite
def conditions(draw: st.DrawFn) -> Condition:
    """Any form of condition that the language can say."""
    form = draw(st.sampled_from(["compare", "chain", "between", "count", "extreme"]))
    low, high = sorted((draw(NUMBERS), draw(NUMBERS)))
    ends = ((Term(low),), (Term(high),))
    if form == "compare":
        relation = draw(st.sampled_from([">=", "<=", ">", "<", "="]))
        return Condition((draw(sides()), draw(sides() | NUMBER_SIDES)), (relation,))
    if form == "count":
        group = (Term(1.0, draw(GROUPS), "sum"),)
        relation = draw(st.sampled_from([">=", "<=", "="]))
        return Condition((group, ends[0]), (relation,), "count")
    if form == "extreme":
        function, relation = draw(st.sampled_from([("min", ">="), ("max", "<"), ("max", "<=")]))
        return Condition(((Term(1.0, draw(GROUPS), function),), ends[0]), (relation,))
    relations = (
        draw(st.sampled_from([("<=", "<="), ("<", "<=")])) if form == "chain" else ("<=",) * 2
    )
    style = "between" if form == "between" else "compare"
    return Condition((ends[0], draw(sides()), ends[1]), relations, style)


NOTES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=20)
RULES = st.builds(
    Rule,
    st.lists(conditions(), min_size=1, max_size=3).map(tuple),
    ODD_NAMES | st.sampled_from(["positive", "-1", "+1", "1.0", "BCR/ABL", "worth", 'a"b']),
    st.just("") | NAMES,
    st.none() | FLOATS.map(abs),
    NOTES,
    st.booleans(),
    st.lists(NOTES, max_size=2).map(tuple),
)
RULE_SETS = st.builds(
    RuleSet,
    st.lists(RULES, max_size=4, unique_by=lambda rule: rule.name).map(tuple),
    st.lists(NOTES, max_size=2).map(tuple),
)
