"""Words on a page: names from the user's data, never taken for markup, and rules in plain words."""

from __future__ import annotations

import re
from typing import Final

from hipad.rules import RuleGradient, RuleRecord
from hipad.utils import count, listed, number, one_line, signed

MARKUP: Final = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:^&=@])")
# Markdown makes links of addresses even where every sign of them is escaped: a sign that has no
# width, after each of these, keeps them apart.
ADDRESS: Final = re.compile(r"(https?|ftps?|mailto|xmpp|www|@)(?=[:.\w])", re.IGNORECASE)
JOINER: Final = "\u2060"


def plain(name: object, longest: int = 60) -> str:
    r"""A name from the user's data, safe inside Markdown: shown as it is, never as markup.

    >>> plain("*p* $x$ <b>")
    '\\*p\\* \\$x\\$ \\<b\\>'
    """
    text = one_line(name, longest)
    return MARKUP.sub(r"\\\1", ADDRESS.sub(rf"\1{JOINER}", text))


def listing(names: list[str], most: int = 5) -> str:
    """The first few names, safe inside Markdown, and how many more there are."""
    return listed(names, limit=most, spell=plain)


PATIENT: Final = re.compile(r"\bpatient(?=s?\b)", re.IGNORECASE)
ROW: Final = re.compile(r"\brow(?=s?\b)")


def in_row_word(text: str, row: str) -> str:
    """Return a sentence of the library in the word that the data have for a row.

    >>> in_row_word("some patients meet both", "customer")
    'some customers meet both'
    >>> in_row_word("Patients to label next", "sample")
    'Samples to label next'
    """
    if row == "patient":
        return text
    return PATIENT.sub(lambda found: row.capitalize() if found[0][0] == "P" else row, text)


def brings_in(gradient: RuleGradient | None) -> str:
    """Whether a rule is strong enough to add a feature, in a clinician's words."""
    if gradient is None:
        return "–"
    if gradient.enters:
        return "yes" if gradient.alone else "yes, with the data"
    return "no"


def record_lines(
    record: RuleRecord, *, expert: bool, row: str = "patient", line: str = ""
) -> list[str]:
    """What there is to know of a rule, without the solver's words unless the reader wants them.

    `row` is whom the model is about, `Dataset.row_word(1)`; `line` is one row of the table where
    several belong together, `Dataset.line_word(1)`.
    """
    line = line or row
    if expert:
        return record.lines
    parts = ((f"training {line}s", record.train), (f"test {line}s", record.test))
    lines = [
        f"{part}: {ROW.sub(line, str(counts)).replace('fires on', 'applies to')}"
        for part, counts in parts
        if counts
    ]
    if (typical := record.prototype) is not None and typical.feasible:
        agrees = "agrees with" if typical.margin > 0 else "contradicts"
        lines.append(f"typical {row}: {signed(typical.margin)}, the model {agrees} the rule")
    lines += [worst_case(record, row)] if record.worst is not None else []
    lines += [trust] if (trust := trust_words(record, row, line)) else []
    if record.effect is not None:
        lines.append(in_row_word(ROW.sub(line, str(record.effect)), row))
    return lines + list(record.remarks)


def trust_words(record: RuleRecord, row: str = "patient", line: str = "") -> str:
    """How far a rule is trusted, and why; empty where a setting gives its weight."""
    evidence, line = record.evidence, line or row
    if record.written is not None:
        weight = count(round(record.written), row)
        if record.written != round(record.written):
            weight = f"{number(record.written)} {row}s"
        text = f"You wrote a weight of {weight}: it is used as written."
        if not record.is_questioned or evidence is None:
            return text
        return (
            f"{text} But {number(evidence.wrong)} of the {number(evidence.fired)} training {line}s "
            "that the rule covers contradict it: remove the weight, and it is learnt from the data."
        )
    trust = record.trust
    if trust is None:
        return ""
    before, after = (round(100 * share) for share in (trust.prior, trust.posterior))
    labelled = f"Your {count(round(trust.rows), f'labelled {row}')}"
    if before == after:
        return (
            f"{labelled} neither support nor contradict this rule: the trust in it stays {after} %."
        )
    if after > before:
        return f"{labelled} raise the trust in this rule from {before} to {after} %."
    text = f"{labelled} lower the trust in this rule from {before} to {after} %"
    text = f"{text}: models without it predict held-out {line}s better."
    if evidence is None or 2 * evidence.right <= evidence.fired:
        return text
    right = f"{number(evidence.right)} of the {number(evidence.fired)} training {line}s"
    return f"{text} The rule may still be right: it is right on {right} that it covers."


def worst_case(record: RuleRecord, row: str = "patient") -> str:
    """The least margin of a rule as a sentence, and from which threshold on the rule would hold."""
    worst = record.worst
    if worst is None:
        return "not known"
    if not worst.feasible:
        return f"no {row} within the observed range meets it"
    if worst.holds:
        return f"holds for every {row} within the observed range (least margin {worst.value:.3g})"
    named = list(worst.patient.named(record.names).items())
    shown = ", ".join(f"{name} = {value:.4g}" for name, value in named[:4])
    words = f"does not hold for every {row}: least margin {worst.value:.3g}"
    if shown:
        words += f", at {shown}{' ...' if len(named) > 4 else ''}"
    return words + (f"; would hold from {record.holds_from} on" if record.holds_from else "")
