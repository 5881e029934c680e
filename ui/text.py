"""Words on a page: names from the user's data, never taken for markup, and rules in plain words."""

from __future__ import annotations

import re
from typing import Final
from unicodedata import category

from hipad.rules import RuleGradient, RuleRecord
from hipad.utils import count, listed, number, signed

MARKUP: Final = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:^&=@])")
# Markdown makes links of addresses even where every sign of them is escaped: a sign that has no
# width, after each of these, keeps them apart.
ADDRESS: Final = re.compile(r"(https?|ftps?|mailto|xmpp|www|@)(?=[:.\w])", re.IGNORECASE)
JOINER: Final = "\u2060"
UNSEEN: Final = ("Cc", "Cf", "Cs", "Co", "Cn")  # control, direction and half characters


def plain(name: object, longest: int = 60) -> str:
    r"""A name from the user's data, safe inside Markdown: shown as it is, never as markup.

    >>> plain("*p* $x$ <b>")
    '\\*p\\* \\$x\\$ \\<b\\>'
    """
    text = one_line(name, longest)
    return MARKUP.sub(r"\\\1", ADDRESS.sub(rf"\1{JOINER}", text))


def one_line(name: object, longest: int) -> str:
    """A name cut to size, without line ends and other signs that are not seen."""
    seen = "".join(" " if category(c) in UNSEEN else c for c in str(name)[: 4 * longest])
    text = " ".join(seen.split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def listing(names: list[str], most: int = 5) -> str:
    """The first few names, safe inside Markdown, and how many more there are."""
    return listed(names, limit=most, spell=plain)


def brings_in(pull: RuleGradient | None) -> str:
    """Whether a rule is strong enough to bring in a feature, in a clinician's words."""
    if pull is None:
        return "–"
    if pull.enters:
        return "yes" if pull.alone else "yes, with the patients"
    return "no"


def record_lines(record: RuleRecord, *, expert: bool) -> list[str]:
    """What there is to know of a rule, without the solver's words unless the reader wants them."""
    if expert:
        return record.lines
    parts = (("training patients", record.train), ("test patients", record.test))
    lines = [f"{part}: {counts}".replace("row", "patient") for part, counts in parts if counts]
    if (typical := record.prototype) is not None and typical.feasible:
        agrees = "agrees with" if typical.margin > 0 else "contradicts"
        lines.append(f"typical patient: {signed(typical.margin)}, the model {agrees} the rule")
    lines += [worst_case(record)] if record.worst is not None else []
    lines += [trust] if (trust := trust_words(record)) else []
    lines += [str(record.effect).replace("row", "patient")] if record.effect is not None else []
    return lines + list(record.remarks)


def trust_words(record: RuleRecord) -> str:
    """How far a rule is trusted, and by whose word; empty where a setting gives its weight."""
    heard = record.heard
    if record.written is not None:
        weight = count(round(record.written), "patient")
        if record.written != round(record.written):
            weight = f"{number(record.written)} patients"
        told = f"You wrote a weight of {weight}: it is used as written."
        if not record.is_questioned or heard is None:
            return told
        return (
            f"{told} But {number(heard.wrong)} of the {number(heard.fired)} training patients whom "
            "the rule covers contradict it: take the weight away to have it learnt."
        )
    trust = record.trust
    if trust is None:
        return ""
    before, after = (round(100 * share) for share in (trust.prior, trust.posterior))
    patients = f"Your {count(round(trust.rows), 'labelled patient')}"
    if before == after:
        return f"{patients} say nothing for or against this rule: the trust in it stays {after} %."
    if after > before:
        return f"{patients} raise the trust in this rule from {before} to {after} %."
    told = f"{patients} lower the trust in this rule from {before} to {after} %"
    told = f"{told}: held out, they speak more for models without it."
    if heard is None or 2 * heard.right <= heard.fired:
        return told
    right = f"{number(heard.right)} of the {number(heard.fired)} training patients"
    return f"{told} That need not make it wrong: it is right on {right} whom it covers."


def worst_case(record: RuleRecord) -> str:
    """The worst case of a rule as a sentence, and from which threshold on it would hold."""
    if record.worst is None:
        return "not known"
    words = record.worst.sentence(record.names).replace("the box", "the observed range")
    return words + (f"; would hold from {record.holds_from} on" if record.holds_from else "")
