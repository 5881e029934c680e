"""Suggestions: remedies for a line that cannot be used, and examples from a user's own table."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from itertools import islice
from pathlib import Path
from typing import Final

from hipad.exceptions import RuleError
from hipad.rules.ast import RuleSet
from hipad.rules.compiler import compile_rules
from hipad.rules.context import ColumnValues, NameTable
from hipad.rules.lexer import COUNT_WORDS, format_number, plain_line, quote_label, quote_name
from hipad.rules.parser import parse_line, split_note

# --------------------------------------------------------------------------------------------------
# What to write in place of a line that cannot be used: whole lines, each tried before it is given.
#
# A mistake comes with texts that could have stood at its place; further lines come from what people
# usually mean by such a line (a name in other letters, a class at the end, `and` in place of `;`).
# Only lines that can be read and compiled for these data are given.


MOST_REMEDIES: Final = 3  # remedies of one mistake
MOST_TRIED: Final = 60  # lines that are compiled for one mistake
MOST_MISTAKES: Final = 3  # of one line that are mended together
LONGEST_LINE: Final = 500  # characters; longer lines get no remedy
MOST_NAMES: Final = 400  # that an unknown one is compared with; of more, those roughly like it
MOST_SPANS: Final = 8  # of words that may be the unknown name
MOST_WORDS: Final = 7  # of a name in a line, with the blanks between them
_WORD: Final = re.compile(r"`[^`]*`|\"[^\"]*\"|'[^']*'|[\w.]+(?:-[\w.]+)*|[<>=!]+|.")
_ARROW: Final = re.compile(r"={1,3}>|-{1,2}>|[⇒⟹→⟶]|\bthen\b|\bimplies\b", re.IGNORECASE)
_JOINT: Final = re.compile(r"\s+(?:and|or|but|with|unless)\s+|\s*[,;&|]+\s*", re.IGNORECASE)
_WORTH: Final = re.compile(r"[\s,(]+(?:worth|weight)\b", re.IGNORECASE)
_TITLE: Final = re.compile(r"\s*(?:off\s+)?(?:(?:`[^`]*`|[\w.]+)\s*:)?\s*", re.IGNORECASE)
_SIGN: Final = re.compile(
    r"[<>=≤≥]|\b(?:above|below|over|under|at least|at most|exceeds?|between)\b", re.IGNORECASE
)
_RELATION: Final = re.compile(
    r"[<>=≤≥≠|]|\b(?:in|between|within|outside|above|below|over|under|at least|at most|exceeds?|"
    r"highest|lowest|top|bottom|is|are|not|no|none|any|all)\b",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"\d+(?:[.,'_ ]\d{3})*(?:[.,]\d+)?")
_GREEK: Final = {"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε",
                 "kappa": "κ", "lambda": "λ", "mu": "μ", "micro": "μ", "sigma": "σ",
                 "omega": "ω"}  # fmt: skip
_SEXES: Final = {"women": "female", "woman": "female", "girls": "female", "females": "female",
                 "men": "male", "man": "male", "boys": "male", "males": "male"}  # fmt: skip
_PAST: Final = {"ex": ("former", "past", "quit"), "former": ("ex", "past", "quit")}
_AGE: Final = tuple(
    (
        re.compile(
            rf"\b(?:(?:patients|people|those)\s)?(?:aged?\s)?(?:{words})\s+(\d+)"
            r"(?:\s*(?:years?|yrs?|y)(?:\s+old|\s+of age)?)?\b",
            re.IGNORECASE,
        ),
        sign,
    )
    for words, sign in (("older than|over|above", ">"), ("younger than|under|below", "<"))
)
_DENIED: Final = re.compile(
    r"\b(?:not|no|none|never|without|neither|nor|unless|except|un(?=\w{4})|non)\b|n't\b|!=|≠|= 0\b",
    re.IGNORECASE,
)
_OF_BLOCK: Final = r"(?:\s+(?:mean|average|expression|signature|levels?|score)\b)*"
_FUNCTION: Final = r"log2|log10|ln|sqrt|abs|mean|average|sum|min|max"


@dataclass(frozen=True)
class Remedy:
    """What a button says, and what stands in place of the line after it."""

    label: str
    text: str


def remedies(
    line: str,
    error: RuleError,
    name_table: NameTable,
    classes: Sequence[object],
    *,
    positive_chosen: bool = True,
    most: int = MOST_REMEDIES,
) -> list[Remedy]:
    """Return up to `most` texts for a line that was refused, each compiled on these data.

    Parameters
    ----------
    line : str
        The line that cannot be used, with its note.
    error : RuleError
        What was said of it.
    name_table : NameTable
        The names, blocks and training rows.
    classes : sequence of two
        The (negative, positive) classes.
    positive_chosen : bool
        Whether the user chose the positive class.
    most : int
        How many are given at most.

    Returns
    -------
    list of Remedy
        The nearest first; empty where nothing that can be compiled is known.

    Examples
    --------
    >>> from hipad.rules import FeatureIndex
    >>> name_table = NameTable(FeatureIndex(["Glucose", "BMI"]))
    >>> line = "Glukose >= 126 => ill"
    >>> try:
    ...     compile_rules(line, feature_names=name_table.index, classes=("well", "ill"))
    ... except RuleError as error:
    ...     print(remedies(line, error, name_table, ("well", "ill"))[0].text)
    Glucose >= 126 => ill
    """
    if len(line) > LONGEST_LINE:
        return []
    given, labels = plain_line(line), [quote_label(str(label)) for label in classes]
    found: list[Remedy] = []
    seen = {given.strip()}
    for label, text in islice(_candidates(given, error, name_table, labels), MOST_TRIED):
        if text.strip() in seen or any(each.label == f"Write {label}" for each in found):
            continue
        seen.add(text.strip())
        if not _keeps(given, text, name_table):
            continue
        later = _mistake(text, name_table, classes, positive_chosen)
        for _ in range(MOST_MISTAKES - 1):  # the line may hold more of them
            whole = None if later is None else _next_mended(text, later)
            if whole is None:
                break
            label = text = whole
            later = _mistake(text, name_table, classes, positive_chosen)
        if later is None:
            found.append(Remedy(f"Write {label}", text))
            if len(found) == most:
                break
    return found


def _keeps(line: str, text: str, name_table: NameTable) -> bool:
    """Return whether all that a line compares is compared in a text for it, too.

    A number may come back in another form, so that one may be lost where another one is new. A
    name of the data stays, and so does the comparison.
    """
    old, new = _premise(line), " and ".join(map(_premise, text.splitlines()))
    before, after = Counter(_numbers_of(old)), Counter(_numbers_of(new))
    if before - after and not after - before:
        return False
    if _RELATION.search(old) and not _RELATION.search(new):
        return False
    if len(_ARROW.findall(line)) > len(_ARROW.findall(text)):
        return False  # one of two rules
    plain = _ascii(new).replace(" ", "")
    return all(_ascii(name).replace(" ", "") in plain for name in _names_in(old, name_table))


def _numbers_of(text: str) -> list[float]:
    """Return the numbers of a text, however they are grouped; digits of names are none."""
    bare = re.sub(r"`[^`]*`", " ", text)
    found = re.findall(r"(?<![\w.,-])\d+(?:[.,'_ ]\d{3})*(?:[.,]\d+)?(?!\w*[^\W\d]\w*\d)", bare)
    return [float(re.sub(r"\D", "", number)) for number in found]


def _names_in(text: str, name_table: NameTable) -> Iterator[str]:
    """Yield what in a text is written as a feature, a category, a value or a block is."""
    words = list(_WORD.finditer(text))
    for first, word in enumerate(words):
        if not word[0].strip():
            continue
        for last in range(first, min(first + MOST_WORDS, len(words))):
            name = text[word.start() : words[last].end()].strip("`\"'")
            if name_table.is_measured(name) or name_table.group(name) is not None:
                yield name
            elif len(name) > 3 and not name.isdecimal() and name_table.is_value(name):
                yield name  # shorter ones are words, too: on, off, no


def _premise(line: str) -> str:
    arrow = _ARROW.search(line)
    return line[: arrow.start()] if arrow else line


def _next_mended(text: str, error: RuleError) -> str | None:
    """Return a text with what its next mistake suggests in place of the name there; None
    for none.
    """
    column = error.column or 0
    name = re.compile(r"`[^`]*`|\w+(?: \w+)*?(?=\s*(?:$|[<>=≤≥),]|\b(?:and|or|above|below)\b))")
    found = name.match(text, column - 1) if column else None
    if error.suggestion is None or found is None or "no feature or block" not in str(error):
        return None
    return text[: found.start()] + error.suggestion + text[found.end() :]


def can_be_used(
    text: str, name_table: NameTable, classes: Sequence[object], *, positive_chosen: bool = True
) -> bool:
    """Return whether a text is read without a mistake and compiles on these data."""
    return _mistake(text, name_table, classes, positive_chosen) is None


def _mistake(
    text: str, name_table: NameTable, classes: Sequence[object], positive_chosen: bool
) -> RuleError | None:
    """Return what is wrong with a text on these data; None where it can be used."""
    try:  # each line by itself: what was read before stays remembered
        rules = [
            rule
            for line in text.splitlines()
            for rule in parse_line(split_note(line)[0], vocabulary=name_table)
        ]
        compile_rules(
            RuleSet(tuple(rules)),
            feature_names=name_table.index,
            blocks=name_table.blocks,
            classes=classes,
            positive_chosen=positive_chosen,
            include_off=True,
            values=name_table.values,
        )
    except RuleError as error:
        return error
    return None if rules else RuleError("there is no rule: write one")


def _candidates(
    line: str, error: RuleError, name_table: NameTable, labels: list[str]
) -> Iterator[tuple[str, str]]:
    """Yield texts that may be meant, with what a button says of each; the likeliest first."""
    body = split_note(line)[0]
    at = min(max((error.column or 1) - 1, 0), len(line))
    offered = [text for text in (error.suggestion, *error.expected) if text]
    outcome = _outcome_part(body)
    if (outcome and outcome[0] <= at < outcome[1]) or not outcome:
        yield from _outcomes(line, body, outcome, labels)
    denied = _n_denied(line)
    for text in dict.fromkeys(offered):
        for start, end in _parts(line, at):
            placed = line[:start] + text + line[end:]
            sound = line[start:end].strip() and not _compares_twice(text, line, start, end)
            if sound and _n_denied(placed) >= denied:
                yield text, placed
    for rewrite in _REWRITES:
        for text in rewrite(line, at, name_table):
            yield _on_button(text), text
    for name, text in _near_names(line, at, name_table):
        if _n_denied(text) >= denied:
            yield name, text
    if outcome and not _is_label(body[slice(*outcome)], labels):
        yield from _outcomes(line, body, outcome, labels)
    for text in _shorter(line, at):
        if _n_denied(text) >= denied:
            yield _on_button(text), text


def _compares_twice(text: str, line: str, start: int, end: int) -> bool:
    """Return whether a whole condition would stand beside the sign of the one that it replaces."""
    if not _SIGN.search(text):
        return False
    return bool(
        re.search(r"[<>=≤≥]\s*$", line[:start]) or re.match(r"\s*(?:[<>≤≥]|=(?![=>]))", line[end:])
    )


def _n_denied(line: str) -> int:
    """Return how often a line says not, so that no remedy turns its meaning round."""
    return len(_DENIED.findall(line)) + (_ARROW.search(line) is None)


def _on_button(text: str) -> str:
    """Return a text of one line or several, as a button says it."""
    return " / ".join(part.strip() for part in text.splitlines())


def _parts(line: str, at: int) -> Iterator[tuple[int, int]]:
    """Parts of a line that a remedy may replace: word, words, condition, outcome, premise, rule."""
    body = split_note(line)[0]
    if word := _WORD.match(body, at):
        yield word.span()
    title = _TITLE.match(body)
    first = title.end() if title else 0
    arrow = _ARROW.search(body)
    last = len(body[: arrow.start() if arrow else None].rstrip())
    joints = [joint.span() for joint in _JOINT.finditer(body, first, last)]
    starts, ends = [first, *(b for _, b in joints)], [*(a for a, _ in joints), last]
    for start, end in zip(starts, ends, strict=True):
        if start <= at <= end:
            if (sign := _SIGN.search(body, at, end)) is not None:
                yield at, len(body[: sign.start()].rstrip())
                yield start, len(body[: sign.start()].rstrip())
            yield start, end
    if outcome := _outcome_part(body):
        yield outcome
        yield first, last
    yield first, len(body.rstrip())


def _outcome_part(body: str) -> tuple[int, int] | None:
    """Return where the class stands after an arrow."""
    arrow = _ARROW.search(body)
    if arrow is None:
        return None
    worth = _WORTH.search(body, arrow.end())
    end = len(body[: worth.start() if worth else None].rstrip())
    return arrow.end() + (body[arrow.end() : end][:1] == " "), end


def _outcomes(
    line: str, body: str, part: tuple[int, int] | None, labels: list[str]
) -> Iterator[tuple[str, str]]:
    """Yield a class of the data in place of what stands at the end, or after a rule that
    has none.
    """
    if part is not None:
        said = body[part[0] : part[1]]
        before = line[: part[0]] + ("" if line[: part[0]].endswith(" ") else " ")
        for label in _ranked_labels(said, labels):
            yield f"=> {label}", before + label + line[max(part) :]
        return
    rest = line[len(body) :]
    back = re.match(r"\s*(.+?)\s*<-+\s*(.+)", body)
    if_first = re.match(r"\s*(.+?)[,:]?\s+(?:if|when|whenever)\s+(.+)", body, re.IGNORECASE)
    for match in filter(None, (back, if_first)):
        for label in _ranked_labels(match[1], labels):
            yield f"=> {label}", f"{match[2].strip()} => {label}{rest}"
    bare = re.sub(r"^\s*(?:if|when)\s+", "", body, flags=re.IGNORECASE).rstrip(" .!")
    for label in labels:
        plain = re.escape(label.strip('"'))
        if found := re.fullmatch(rf"(.+?)\s*(?:=|:|,|is|are|then)?\s*{plain}", bare, re.IGNORECASE):
            yield f"=> {label}", f"{found[1].strip(' =,:')} => {label}{rest}"
    for label in labels:
        yield f"=> {label}", f"{bare} => {label}{rest}"


def _is_label(said: str, labels: list[str]) -> bool:
    """Return whether an outcome is a class as it is written in the data."""
    plain = said.strip(" \"'`").casefold()
    return any(plain == label.strip("\"'`").casefold() for label in labels)


def _ranked_labels(said: str, labels: list[str]) -> list[str]:
    """Return the classes, first the one that the words are most like."""
    text = said.lower().strip(" \"'.!")

    def likeness(label: str) -> float:
        plain = label.lower().strip('"')
        if re.search(rf"(?<!\w){re.escape(plain)}(?!\w)", text):
            return 2.0 + len(plain) / 100
        if len(text) > 2 and (plain.startswith(text) or text.startswith(plain)):
            return 1.5
        return SequenceMatcher(None, text, plain).ratio()

    ranked = sorted(labels, key=likeness, reverse=True)
    denied = re.match(r"(?:no|not|non|without|never)\b[\s-]*(.+)", text)
    return ranked[::-1] if denied and likeness(ranked[0]) < 2.0 else ranked


def _split_rules(line: str, at: int, name_table: NameTable) -> Iterator[str]:
    """Yield rules on one line on lines of their own; `and` in place of `;`; else as a
    second rule.
    """
    body = split_note(line)[0]
    parts = [part.strip() for part in re.split(r"[;,]|\band\b", body) if part.strip()]
    arrows = len(_ARROW.findall(body))
    if arrows > 1:
        for mark in (";", ",", r"\band\b"):
            pieces = [piece.strip() for piece in re.split(mark, body)]
            if len(pieces) == arrows and all(_ARROW.search(piece) for piece in pieces):
                yield "\n".join(pieces)
    if found := re.fullmatch(r"(.+\bor\b.+?),\s*and\s+(.+?)(\s*=>.*)", body):
        yield f"({found[1]}) and {found[2]}{found[3]}"
    if ";" in body and len(parts) > 1:
        yield line.replace(";", " and ")
        yield line.replace(";", " or ")
    arrow = _ARROW.search(body)
    other = re.search(r"[,;]?\s+(?:else|otherwise)\s+", body, re.IGNORECASE)
    if arrow and other and arrow.end() < other.start():
        premise = re.sub(r"^\s*if\s+", "", body[: arrow.start()], flags=re.IGNORECASE).strip()
        said = body[arrow.end() : other.start()].strip()
        yield f"{premise} => {said}\nnot ({premise}) => {body[other.end() :].strip()}"
    if iff := re.search(r"<={1,2}>|<-{1,2}>|[⇔⟺↔]|\biff\b", body):
        premise, said = body[: iff.start()].strip(), body[iff.end() :].strip()
        yield f"{premise} => {said}\nnot ({premise}) => not {said}"
        yield f"{premise} => {said}"


def _signs(line: str, at: int, name_table: NameTable) -> Iterator[str]:
    """Yield a sign where a number follows a name; `and` for a word that joins; `*` and `>=`
    repaired.
    """
    body, rest = split_note(line)[0], line[at:]
    if _NUMBER.match(rest) and re.search(r"\w[`\"]?\s+$", line[:at]):
        for sign in (">=", "=", "<="):
            yield f"{line[:at]}{sign} {rest}"
    for word in ("if", "when", "where", "plus", "given"):
        if re.match(rf"{word}\b", rest, re.IGNORECASE):
            yield f"{line[:at]}and{rest[len(word) :]}"
    if re.search(r"\bwhere\b", body[:8], re.IGNORECASE):
        yield re.sub(r"^\s*where\s+", "", line, flags=re.IGNORECASE)
    if match := re.search(r"\bin\s*\(([^()]+)\)", body):
        inside = match[1].strip()
        yield line.replace(match[0], f"in {{{inside}}}")
        ends = [part.strip() for part in inside.split(",")]
        if len(ends) == 2:
            yield line.replace(match[0], f"between {ends[0]} and {ends[1]}")
    if match := re.search(r"([<>]=?)\s*(?:both\s+)?([\w.`-]+)\s*(?:,|and)\s*([\w.`-]+)\s*(?==>|->)",
                          body):  # fmt: skip
        function = "max" if match[1][0] == ">" else "min"
        yield line.replace(match[0], f"{match[1]} {function}({match[2]}, {match[3]}) ")
    if re.search(r"\([^()]*\)", body) and _ARROW.search(body):
        yield re.sub(r"\s*\([^()]*\)", "", body, count=1) + line[len(body) :]
        yield re.sub(r"\s+(?=\([^()]*[<>=])", " and ", body, count=1) + line[len(body) :]
        match = re.search(r"[\w ]+\s\(([^()]+)\)", body)
        if match:
            yield line.replace(match[0], match[1])


def _numbers(line: str, at: int, name_table: NameTable) -> Iterator[str]:
    """Yield a number without marks between its digits, with a point, or of words."""
    found = _NUMBER.match(line, at)
    if found:
        bare = re.sub(r"[.,'_ ]", "", found[0])
        yield line[:at] + bare + line[found.end() :]
        yield line[:at] + found[0].replace(",", ".", 1) + line[found.end() :]
    words = COUNT_WORDS | {"zero": 0}
    if word := re.compile("|".join(words), re.IGNORECASE).match(line, at):
        yield line[:at] + str(words[word[0].lower()]) + line[word.end() :]
    if match := re.search(r"(\d+(?:\.\d+)?)\s*[x×]\s*(\d+(?:\.\d+)?)(?!\d)", line):
        product = format_number(float(f"{float(match[1]) * float(match[2]):.12g}"))
        yield line.replace(match[0], product)
    if match := re.search(r"\bin (?:the |their )?(\d)0s\b", line):
        yield line.replace(match[0], f"between {match[1]}0 and {match[1]}9")
    if match := re.search(r"(?<=[\d%])\+(?=\s|$)", line):
        number = re.search(r"[:\s]*(\d[\d.]*\s*%?)\+$", line[: match.end()])
        if number:
            yield f"{line[: number.start()]} >= {number[1]}{line[match.end() :]}"
    if match := re.search(r"(\d[\d.]*)\s*m(?:illion)?\b", line, re.IGNORECASE):
        yield line.replace(match[0], format_number(float(match[1].rstrip(".")) * 1e6))


def _blocks(line: str, at: int, name_table: NameTable) -> Iterator[str]:
    """Yield the mean of a block where one feature is asked for; how many of it where a share is
    said.
    """
    low = line.lower()
    held = [name for name in name_table.blocks if name.lower() in low]
    names = [name for name in held if re.search(_whole(name), line, re.IGNORECASE)]
    for shares in ("half of", "most of", "the majority of"):
        for name in names:
            size = len(name_table.blocks[name])
            least = size // 2 + 1 if shares != "half of" else -(-size // 2)
            pattern = rf"\b{shares}\s+(?:the\s+)?(?=\W*{re.escape(name)})"
            if re.search(pattern, line, re.IGNORECASE):
                yield re.sub(pattern, f"at least {least} of ", line, flags=re.IGNORECASE)
    for name in name_table.blocks:  # any bearing, of the block BEARINGS
        one = rf"\b(any|all|each|every|no|none of the)\s+{re.escape(name.rstrip('sS'))}s?\b"
        if name[-1:] in "sS" and (said := re.search(one, line, re.IGNORECASE)):
            word = {"any": "any", "no": "none", "none of the": "none"}.get(said[1].lower(), "all")
            yield line.replace(said[0], f"{word}({quote_name(name)})")
    for function in ("mean", "min", "max"):
        text = line
        for name in names:
            bare = rf"(?:\b(?:mean|average)\s+)?(?<![(\w]){_whole(name)}(?![)\w])"
            called = f"{function}({quote_name(name)})".replace("\\", r"\\")
            text = re.sub(bare + _OF_BLOCK, called, text, flags=re.IGNORECASE)
        if names:
            yield text
    if match := re.search(r"\brange of ([\w.`-]+)", line, re.IGNORECASE):
        yield line.replace(match[0], f"max({match[1]}) - min({match[1]})")
    if match := re.search(r"(\w+?)(\d+) \+ (?:\.\.\.|…) \+ \1(\d+)", line):
        yield line.replace(match[0], f"sum({match[1]}{match[2]}:{match[1]}{match[3]})")


def _whole(name: str) -> str:
    return rf"(?<!\w)`?{re.escape(name)}`?(?!\w)"


def _words(line: str, at: int, name_table: NameTable) -> Iterator[str]:
    """Words for signs and functions: `log2 TMB`, `a positive`, `differs by more than`, age."""
    yield from (
        re.sub(rf"\b({_FUNCTION})\s+([\w.`-]+)", r"\1(\2)", text, flags=re.IGNORECASE)
        for text in [line]
        if re.search(rf"\b(?:{_FUNCTION})\s+\w", line, re.IGNORECASE)
    )
    signs = {"positive": "> 0", "negative": "< 0", "above zero": "> 0", "below zero": "< 0"}
    text = line
    for word, sign in signs.items():
        text = re.sub(
            rf"\s+(?:is\s+|are\s+)?{word}\b(?=.*=>)", f" {sign}", text, flags=re.IGNORECASE
        )
    yield text
    side = r"(`[^`]+`|[\w.]+)"
    for pattern, new in (
        (rf"{side} differs from {side} by more than (\S+)", r"|\1 - \2| > \3"),
        (rf"{side} (?:is )?the (?:highest|largest) of ([^=]+?)(?=\s*=>)", r"\1 >= max(\2)"),
        (rf"{side} (?:is )?the (?:lowest|smallest) of ([^=]+?)(?=\s*=>)", r"\1 <= min(\2)"),
        (rf"{side} (\d+)[- ]fold (?:higher|greater|more) than {side}", r"\1 > \2*\3"),
        (rf"log2\({side}\s*/\s*{side}\)\s*>\s*1(?![.\d])", r"\1 > 2*\2"),
        (r"z-?score of ", "z "),
        (r"\bz-?scores? (?:of )?([\w.`-]+)", r"z(\1)"),
        (r"\bz ([\w.`-]+)", r"z(\1)"),
        (r"([\w.`]+)\s*>\s*q3\b", r"\1 > p75(\1)"),
        (r"([\w.`]+)\s*<\s*q1\b", r"\1 < p25(\1)"),
        (r"([\w.`]+)\s*([<>]=?)\s*[qQ](\d\d)\b", r"\1 \2 p\3(\1)"),
        (r"\w+\[['\"]([^'\"]+)['\"]\]", r"\1"),
        (r"\bwithin\s*±\s*(\S+) of (\S+)", r"= \2 ± \1"),
        (r"\s+\+\s*(?==>|->|and\b)", " "),
        (r"([\w.`]+)-(?:high|up)\b", r"\1 >= p75(\1)"),
        (r"([\w.`]+)-(?:low|down)\b", r"\1 <= p25(\1)"),
        (r"\b(?:at least|>=|≥)\s*(\d+)\s+([\w ]+?)(?=\s*=>)", r"\2 >= \1"),
        (r"\b(?:more than|over|>)\s*(\d+)\s+([\w ]+?)(?=\s*=>)", r"\2 > \1"),
        (r"\b(?:fewer than|less than|<)\s*(\d+)\s+([\w ]+?)(?=\s*=>)", r"\2 < \1"),
        (r"^\s*(\d+)\s*\+\s*([^\W\d][\w ]*?)(?=\s*=>)", r"\2 >= \1"),
        (r"^\s*(\d+)\s+or more\s+([\w ]+?)(?=\s*=>)", r"\2 >= \1"),
        (r"(\d+) points or more:\s*(.+?)(?=\s*=>)", r"\2 >= \1"),
        (r"(?<=\s)=(?=\s*\d)", ">="),
        (r"[\s,(]*\b(?:with )?weight(?:ed)?(?: of)?\s+(\d+)(?:\s+patients)?\)?",
         r" worth \1 patients"),
    ):  # fmt: skip
        if re.search(pattern, line, re.IGNORECASE):
            yield re.sub(pattern, new, line, flags=re.IGNORECASE)
    ages = [
        n
        for n in (name_table.index.names or [])
        if re.fullmatch(r"age(?![a-z]).*", n, re.IGNORECASE)
    ]
    for spoken, sign in _AGE if len(ages) == 1 else ():
        text = spoken.sub(rf"{quote_name(ages[0])} {sign} \1", line)
        text = re.sub(r"^(\s*\w+)\s+(?=`?age)", r"\1 and ", text, flags=re.IGNORECASE)
        if text != line:
            yield text
            yield from (re.sub(rf"\b{word}\b", level, text, flags=re.IGNORECASE)
                        for word, short in _SEXES.items() for level in (short, short[0].upper())
                        if name_table.is_name(level))  # fmt: skip


def _categories(line: str, at: int, name_table: NameTable) -> Iterator[str]:
    """Yield a category with its values: none where it is denied, else those that are like the
    words.
    """
    if ends := re.search(r"(?<!\w)(\w+)\s*[-–]\s*(\w+)(?!\w)", line):
        for group, known in name_table.index.categories.items():
            if {ends[1].lower(), ends[2].lower()} <= set(known) and name_table.order(group):
                own = quote_name(name_table.category(group) or group)
                yield line.replace(ends[0], f"{own} between {ends[1]} and {ends[2]}")
    for group in name_table.index.categories:
        if group not in line.lower():
            continue
        found = re.search(_whole(group), line, re.IGNORECASE)
        name = name_table.category(group)
        if found is None or name is None:
            continue
        levels = [name_table.index.level_name(j) for j in (name_table.group(group) or {}).values()]
        denied = re.search(rf"\b(?:no|without)\s+{_whole(group)}", line, re.IGNORECASE)
        for level in levels:
            text = f"{quote_name(name)} = {quote_name(level)}"
            if denied and level.lower() in ("none", "no", "never", "absent"):
                yield line[: denied.start()] + text + line[denied.end() :]
        if match := re.search(rf"{_whole(group)}\s+(?:is\s+)?abnormal\b", line, re.IGNORECASE):
            yield line.replace(match[0], f"{quote_name(name)} != normal")
        start, end = _condition_at(line, found.start())
        words = [w for w in re.findall(r"[^\W\d_]+", line[start:end].lower()) if w != group]
        close = [level for level in levels if _is_like(level, words)]
        for chosen in ([close] if len(close) > 1 else []) + [[level] for level in close]:
            inside = ", ".join(map(quote_name, chosen))
            said = f"in {{{inside}}}" if len(chosen) > 1 else f"= {inside}"
            yield f"{line[:start]}{quote_name(name)} {said}{line[end:]}"


def _is_like(level: str, words: list[str]) -> bool:
    """Return whether words begin like a value, hold it, or are another word for it."""
    low = level.lower()
    pieces = [piece for piece in re.findall(r"[^\W\d_]+", low) if len(piece) > 2]
    for word in words:
        if low in _PAST.get(word, ()) or _SEXES.get(word) == low:
            return True
        if len(word) > 3 and any(p[:3] == word[:3] and _common(p, word) > 2 for p in pieces):
            return True
        if word in pieces:
            return True
    return False


def _common(one: str, other: str) -> int:
    return next((k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
                min(len(one), len(other)))  # fmt: skip


def _condition_at(line: str, at: int) -> tuple[int, int]:
    """Return where the condition begins and ends in which a place lies."""
    body = split_note(line)[0]
    arrow = _ARROW.search(body)
    last = len(body[: arrow.start() if arrow else None].rstrip())
    first = 0
    for joint in _JOINT.finditer(body, 0, last):
        if joint.end() <= at:
            first = joint.end()
        elif joint.start() >= at:
            last = joint.start()
            break
    return first, last


def _near_names(line: str, at: int, name_table: NameTable) -> Iterator[tuple[str, str]]:
    """Yield names of the data for one that they do not have: other letters, a part of it, a
    value.
    """
    start, end = _condition_at(line, at)
    sign = _SIGN.search(line, start, end)
    stop = len(line[: sign.start()].rstrip()) if sign else end
    spans = dict.fromkeys(_spans(line, at, start, stop))
    catalogue = _known_names(name_table)
    for a, b in islice(spans, MOST_SPANS):
        typed = line[a:b].strip("`\"' ")
        known = catalogue + _roughly_like(typed, name_table)
        denied = re.match(r"(?:un|non|in|no|not|without)[\s-]*(?=\w{3})", typed, re.IGNORECASE)
        for text in _like(typed, known):
            yield text, line[:a] + text + line[b:]
        if denied:
            for text in _like(typed[denied.end() :], known):
                yield f"not {text}", f"{line[:a]}not {text}{line[b:]}"
                yield f"{text} = 0", f"{line[:a]}{text} = 0{line[b:]}"


def _spans(line: str, at: int, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield which words may be the name: the one at the mistake, and all up to the sign."""
    if start < stop:
        yield start, stop
    if at < stop:
        yield at, stop
    if word := _WORD.match(line, at):
        yield word.span()
    words = list(re.finditer(r"[^\s]+", line[start:stop]))
    for first in range(len(words)):
        for last in range(len(words), first, -1):
            yield start + words[first].start(), start + words[last - 1].end()


def _known_names(name_table: NameTable) -> list[tuple[str, str]]:
    """Return names in plain letters with how a rule writes them: features where few, blocks,
    values.
    """
    index, names = name_table.index, []
    own = index.names or []
    if len(own) <= MOST_NAMES:
        names += [(_ascii(name), quote_name(name)) for name in own if "=" not in name[1:-1]]
    names += [(_ascii(b), f"mean({quote_name(b)})") for b in islice(name_table.blocks, MOST_NAMES)]
    for group, levels in islice(index.categories.items(), MOST_NAMES):
        head = f"{quote_name(name_table.category(group) or group)} = "
        for level, j in levels.items():
            names.append((_ascii(level), head + quote_name(index.level_name(j))))
            if level in ("yes", "true", "1"):
                names.append((_ascii(group), head + quote_name(index.level_name(j))))
    return names[: 2 * MOST_NAMES]


def _roughly_like(typed: str, name_table: NameTable) -> list[tuple[str, str]]:
    """Return the features that share most letters with a name, where there are too many to compare
    all.
    """
    if len(name_table.index.names or []) <= MOST_NAMES:
        return []
    return [(_ascii(name), quote_name(name)) for name in name_table.index.similar_names(typed, 12)]


def _ascii(name: str) -> str:
    """Return a name in plain small letters: without accents, Greek letters spelt out, ß as ss."""
    text = unicodedata.normalize("NFD", name.lower()).replace("ß", "ss").replace("∆", "δ")
    for word, letter in _GREEK.items():
        text = text.replace(letter, word)
    text = "".join(mark for mark in text if not unicodedata.combining(mark))
    return re.sub(r"[^a-z0-9]+", " ", text).strip()


def _like(typed: str, known: list[tuple[str, str]]) -> list[str]:
    """Return up to three names that a typed one is most like."""
    variants = {_ascii(typed), _ascii(typed.replace("ß", "β"))}
    plain = _ascii(typed)
    variants.add(re.sub(r"([aou])e", r"\1", plain))
    variants.discard("")
    if not variants:
        return []
    scored: list[tuple[float, str]] = []
    for name, text in known:
        score = max(_score(each, name) for each in variants)
        if score >= 0.6:
            scored.append((score, text))
    scored.sort(key=lambda pair: -pair[0])
    return list(dict.fromkeys(text for _, text in scored))[:3]


def _score(typed: str, name: str) -> float:
    if not name:
        return 0.0
    one, other = typed.replace(" ", ""), name.replace(" ", "")
    if one == other:
        return 1.0
    words, own = set(typed.split()), set(name.split())
    if len(one) > 2 and (words <= own or (own <= words and len(other) > 2)):
        return 0.9
    stems = [w for w in words if len(w) > 3 and any(o[:4] == w[:4] for o in own)]
    if len(one) > 3 and len(stems) == len([w for w in words if len(w) > 3]) > 0:
        return 0.8
    if len(one) > 3 and len(other) > 3 and (one.startswith(other) or other.startswith(one)):
        return 0.8
    return SequenceMatcher(None, one, other).ratio() if get_close_matches(one, [other], 1) else 0.0


def _shorter(line: str, at: int) -> Iterator[str]:
    """Yield the line without the word, or the words, that could not be read."""
    start, end = _condition_at(line, at)
    word = _WORD.match(line, at)
    if (
        word
        and start < at
        and word[0][0].isalnum()
        and not _SIGN.match(line[word.end() :].lstrip())
    ):
        yield line[:at].rstrip() + " " + line[word.end() :].lstrip()
    if start < at < end:
        yield line[:at].rstrip() + line[end:]
        pieces = [piece.start() + start for piece in re.finditer(r"\S+", line[start:end])]
        for stop in reversed([piece for piece in pieces if start < piece < at]):
            yield line[:stop].rstrip() + line[end:]
    if at <= start < end:
        for piece in list(re.finditer(r"\s+", line[start:end]))[:4]:
            yield line[:start] + line[start + piece.end() :]


_REWRITES: Final[tuple[Callable[[str, int, NameTable], Iterator[str]], ...]] = (
    _split_rules,
    _categories,
    _blocks,
    _words,
    _numbers,
    _signs,
)


# --------------------------------------------------------------------------------------------------
# Examples of rules made from a user's own table, each compiled before it is shown.


MOST_EXAMPLES: Final = 6
LOOKED_AT: Final = 300  # columns that are searched for something to show
MANUAL: Final = "docs/rules.md"


@dataclass(frozen=True)
class ExampleRule:
    """A rule on the user's own table, and what it shows."""

    text: str
    shows: str


@dataclass(frozen=True)
class _Columns:
    """What a table has to make examples of: names of numbers, of 0 and 1, categories, blocks."""

    numbers: list[int]
    flags: list[str]
    categories: list[tuple[str, list[str]]]
    blocks: list[str]


def example_rules(
    name_table: NameTable, classes: Sequence[object], *, most: int = MOST_EXAMPLES
) -> list[ExampleRule]:
    """Return up to `most` rules in the columns, quantiles, categories and classes of a table.

    Parameters
    ----------
    name_table : NameTable
        The names and blocks of the table, and its rows.
    classes : sequence of two
        The (negative, positive) classes.
    most : int
        How many are given at most.

    Returns
    -------
    list of ExampleRule
        Each of them compiles on the table.

    Examples
    --------
    >>> from hipad.rules import FeatureIndex
    >>> rows = ColumnValues([[20.0, 1.0], [30.0, 0.0], [40.0, 1.0], [70.0, 0.0]])
    >>> name_table = NameTable(FeatureIndex(["age", "smoker"]), values=rows)
    >>> for rule in example_rules(name_table, ("well", "ill"), most=3):
    ...     print(rule.text)
    age >= 48 => ill
    age between 28 and 48 => well
    smoker and age >= 35 => ill
    """
    columns = _columns(name_table)
    found = (
        rule
        for rule in _example_candidates(
            name_table, columns, *(quote_label(str(label)) for label in classes)
        )
        if can_be_used(rule.text, name_table, classes)
    )
    unique: dict[str, ExampleRule] = {}
    for rule in found:
        unique.setdefault(rule.text, rule)
        if len(unique) == most:
            break
    return list(unique.values())


def _columns(name_table: NameTable) -> _Columns:
    index, values = name_table.index, name_table.values
    numbers: list[int] = []
    flags: list[str] = []
    for j in range(min(len(index), LOOKED_AT)):
        name = index.name(j)
        if "=" in name[1:-1] or values is None:
            continue
        if values.is_flag(j):
            flags.append(name)
        elif len(values.distinct(j)) > 2:
            numbers.append(j)
    categories = []
    for group, levels in islice(index.categories.items(), LOOKED_AT):
        if (own := name_table.category(group)) is not None:
            categories.append((own, [index.level_name(j) for j in levels.values()]))
    return _Columns(
        numbers, flags, categories, [b for b in name_table.blocks if name_table.members(b)]
    )


def _example_candidates(
    name_table: NameTable, columns: _Columns, negative: str, positive: str
) -> Iterator[ExampleRule]:
    """Yield rules in the order in which they are wished for."""
    numbers, values = columns.numbers, name_table.values
    if not numbers or values is None:
        yield from _without_numbers(name_table, columns, positive)
        return
    name = [quote_name(name_table.index.name(j)) for j in numbers]
    level = [[_short(values, j, share) for share in ("p25", "median", "p75")] for j in numbers]
    last = len(numbers) - 1
    second, third = min(1, last), min(2, last)
    yield ExampleRule(f"{name[0]} >= {level[0][2]} => {positive}", "a feature and a number")
    yield from _of_categories(name_table, columns, f"{name[0]} >= {level[0][1]}", positive)
    low, _, high = level[second]
    yield ExampleRule(f"{name[second]} between {low} and {high} => {negative}", "a range")
    for flag in columns.flags[:1]:
        yield ExampleRule(
            f"{quote_name(flag)} and {name[0]} >= {level[0][1]} => {positive}",
            "a column of 0 and 1 holds, and a number",
        )
    for block in columns.blocks[:1]:
        yield from _of_block(name_table, block, positive)
    if last:
        yield ExampleRule(
            f"{name[0]} >= {level[0][2]} and {name[second]} <= {level[second][1]} => {positive}",
            "two conditions that must both hold",
        )
        parts = [f"2*({name[0]} >= {level[0][2]})", f"({name[second]} >= {level[second][2]})"]
        parts += [f"({name[third]} <= {level[third][0]})"] if third > 1 else []
        parts += [f"({quote_name(flag)})" for flag in columns.flags[:2]]
        yield ExampleRule(f"{' + '.join(parts)} >= 2 => {positive}", "a score of points")
        yield ExampleRule(
            f"{name[0]} <= {level[0][0]} or {name[second]} <= {level[second][0]} => {negative}",
            "or: two rules at once",
        )
    yield ExampleRule(
        f"{name[0]} >= {level[0][2]} => {positive} worth 20 patients  # why I think so",
        "what the rule counts for, and a note",
    )
    yield ExampleRule(f"{name[0]} in top 10 % => {positive}", "a share of the training rows")
    yield ExampleRule(f"{name[0]} above its median => {positive}", "a number from the data")
    yield ExampleRule(f"{name[0]} <= {level[0][0]} => {negative}", "at most")


def _of_categories(
    name_table: NameTable, columns: _Columns, condition: str, positive: str
) -> Iterator[ExampleRule]:
    for group, levels in columns.categories[:1]:
        value = next((level for level in levels if level.lower() != "no"), levels[0])
        yield ExampleRule(
            f"{quote_name(group)} = {quote_name(value)} and {condition} => {positive}",
            "a value of a category",
        )
    several = ((g, levels) for g, levels in columns.categories if len(levels) > 2)
    for group, levels in islice(several, 1):
        order = name_table.order(group)
        name = quote_name(group)
        if order is not None and order.ranked:
            text = f"{name} >= {quote_name(order.levels[1])} => {positive}"
            yield ExampleRule(text, "a category whose values have an order")
        else:
            both = ", ".join(map(quote_name, levels[:2]))
            yield ExampleRule(f"{name} in {{{both}}} => {positive}", "one of several values")


def _of_block(name_table: NameTable, block: str, positive: str) -> Iterator[ExampleRule]:
    assert name_table.values is not None
    first = int(name_table.blocks[block][0])
    number = _short(name_table.values, first, "p75")
    quoted = quote_name(block)
    yield ExampleRule(f"mean({quoted}) >= {number} => {positive}", "the mean of a block")
    if 2 < len(name_table.blocks[block]) <= 8:
        yield ExampleRule(f"at least 2 of {quoted} > {number} => {positive}", "some of a block")


def _without_numbers(
    name_table: NameTable, columns: _Columns, positive: str
) -> Iterator[ExampleRule]:
    flags = [quote_name(flag) for flag in columns.flags[:3]]
    for flag in flags:
        yield ExampleRule(f"{flag} => {positive}", "a column of 0 and 1 holds")
    if len(flags) > 1:
        yield ExampleRule(f"{flags[0]} and not {flags[1]} => {positive}", "one without the other")
        yield ExampleRule(f"at least 2 of ({', '.join(flags)}) => {positive}", "some of several")
    for group, levels in columns.categories[:3]:
        for level in levels[:2]:
            yield ExampleRule(
                f"{quote_name(group)} = {quote_name(level)} => {positive}", "a value of a category"
            )
    if name_table.values is None:
        for j in range(min(len(name_table.index), MOST_EXAMPLES)):
            yield ExampleRule(
                f"{quote_name(name_table.index.name(j))} >= 1 => {positive}", "at least"
            )


def _short(values: ColumnValues, j: int, share: str) -> str:
    """Return a quantile of a column in as few digits as tell it from the others."""
    exact = values.statistic(share, j)
    spread = abs(values.statistic("p75", j) - values.statistic("p25", j)) or abs(exact) or 1.0
    for digits in range(1, 8):
        rounded = float(f"{exact:.{digits}g}")
        if abs(rounded - exact) <= 0.05 * spread:
            return format_number(rounded)
    return format_number(exact)


def manual_text() -> str:
    """Return the manual of the rule language in Markdown; empty where it was not installed."""
    home = Path(__file__).resolve().parents[1]
    for place in (home.parent / MANUAL, home / "bundle" / MANUAL):
        if place.is_file():
            return place.read_text("utf-8")
    return ""
