"""Numbers as people write them: 6,5 and 50,000, 50k, 1½, 10^9, with a unit after them.

Marks are taken only where they cannot be misread; what can be is refused, unless the table's own
marks tell. A unit is kept with its number, until the column is known that it is compared with.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from hipad.rules.language.spelling import RESERVED, checked_number, rule_error
from hipad.rules.language.words.cursor import Cursor
from hipad.rules.language.words.lexing import Word
from hipad.rules.units import SCALE_WORDS, convert, short, unit_at, unit_of


def read_number(cursor: Cursor, *, listing: bool = False) -> float:
    """The number that comes next; in a list a comma ends it.

    >>> from hipad.rules.language.words.lexing import words_of
    >>> [read_number(Cursor(t, words_of(t))) for t in ("6,5", "50,000", "50k", "1½", "1.5 x 10^9")]
    [6.5, 50000.0, 50000.0, 1.5, 1500000000.0]
    """
    first = cursor.peek()
    if first.kind == "HEX":
        raise cursor.error("write the number in decimal digits, as in 16")
    value = _digits(cursor, listing)
    if (half := cursor.peek()).kind == "FRACTION":
        value += unicodedata.numeric(cursor.take().text) if first is not half else 0.0
    value *= _thousand(cursor)
    value = _power_of_ten(cursor, value)
    try:
        return checked_number(value)
    except ValueError as error:
        raise rule_error(str(error), column=first.column) from None


Quantity = tuple[float, str]
"""A number and its unit, which may be empty."""


def read_quantity(cursor: Cursor, *, listing: bool = False) -> list[Quantity]:
    """The number that comes next with its unit: 5 cm, $50k; two for 5'11" and 1 h 30 min.

    >>> from hipad.rules.language.words.lexing import words_of
    >>> [read_quantity(Cursor(t, words_of(t))) for t in ("5 cm", "5'11''", "$2")]
    [[(5.0, 'cm')], [(5.0, 'ft'), (11.0, 'inches')], [(2.0, '$')]]
    """
    first = cursor.peek()
    if first.kind == "FEET":
        feet, inches = map(float, _FEET.findall(cursor.take().text))
        return [(feet, "ft"), (inches, "inches")]
    value = read_number(cursor, listing=listing)
    if first.kind == "MONEY":
        value *= _million(cursor)
    if cursor.own is not None and cursor.peek().low == cursor.own.lower():
        cursor.take()  # rpm > 3000 rpm
        return [(value, "")]
    unit = read_unit(cursor)
    if first.kind == "MONEY":
        return [(value, unit or first.text)]
    found = [(value, unit)]
    while unit and (part := _smaller_part(cursor, found[-1][1])) is not None:
        found.append(part)
    return found


def _smaller_part(cursor: Cursor, unit: str) -> Quantity | None:
    """The rest of `5 ft 11 in`; None, with nothing read, if none follows."""
    if cursor.peek().kind != "NUMBER" or unit == "%":
        return None
    start, large = cursor.at, unit_of(unit)
    part = read_number(cursor)
    text = read_unit(cursor)
    small = unit_of(text) if text else None
    plain = large is not None and small is not None and large.kind == small.kind
    if not plain or large is None or small is None or large.offset or small.factor >= large.factor:
        cursor.at = start
        return None
    return part, text


def added_up(parts: list[Quantity]) -> Quantity:
    """Parts such as 5 ft and 11 in as one number of the last unit.

    >>> added_up([(5.0, "ft"), (11.0, "inches")])
    (71.0, 'inches')
    """
    last, total = unit_of(parts[-1][1]), 0.0
    for value, text in parts:
        unit = unit_of(text)
        if unit is not None and last is not None:  # both were read as units of one kind
            total += convert(value, unit, last) or 0.0
    return short(total), parts[-1][1]


def is_number(cursor: Cursor, ahead: int = 0) -> bool:
    """Whether a number without a sign comes next."""
    word = cursor.peek(ahead)
    if word.kind == "MONEY":
        word = cursor.peek(ahead + 1)
    return word.kind in ("NUMBER", "FRACTION", "HEX", "FEET")


def _digits(cursor: Cursor, listing: bool) -> float:
    cursor.accept("MONEY")
    first = cursor.take()
    if first.kind == "FRACTION":
        return unicodedata.numeric(first.text)
    text, last = re.sub("[_'’]", "", first.text), first
    if listing:
        return float(text)
    decimal = "" if cursor.vocabulary is None else cursor.vocabulary.decimal
    if decimal == "," and (value := _with_comma(cursor, first)) is not None:
        return value
    groups = 0
    while _follows(cursor, last):
        mark = cursor.peek()
        digits = cursor.peek(1) if mark.kind == "COMMA" else mark
        if (mark.kind == "COMMA" and not _is_group(digits)) or first.text.startswith("0"):
            whole = mark.kind == "COMMA" and text.isdecimal() and digits.text.isdecimal()
            if groups or not whole:
                break
            cursor.at += 2
            _check_end(cursor, first, digits)
            return float(f"{text}.{digits.text}")
        if not text.isdecimal() or not _is_group(digits) or (not groups and len(first.text) > 3):
            break
        groups += 1
        cursor.at += 2 if mark.kind == "COMMA" else 1
        text, last = text + digits.text, digits
    if decimal != ".":
        _check_group(cursor, first, last, text, groups)
    _check_end(cursor, first, last, decimal)
    return float(text)


def _with_comma(cursor: Cursor, first: Word) -> float | None:
    """A number as a table with decimal commas writes it: 1.234,5; None for any other."""
    end, text = first.end, first.text
    if _THOUSANDS.fullmatch(text):
        while (more := cursor.peek()).start == end and _GROUP.fullmatch(more.text):
            text, end = text + cursor.take().text, more.end
    comma, digits = cursor.peek(), cursor.peek(1)
    joined = comma.kind == "COMMA" and comma.start == end and digits.start == comma.end
    if joined and digits.text.isdecimal() and (text.isdecimal() or _GROUPED.fullmatch(text)):
        cursor.at += 2
        return float(f"{text.replace('.', '')}.{digits.text}")
    if not _GROUPED.fullmatch(text):
        return None
    whole = text.replace(".", "")
    if text.count(".") == 1 and not text.endswith("000"):
        raise cursor.error(
            f"'{text}' can be read in two ways, as the table has decimal commas: write {whole}, or "
            f"{text.replace('.', ',')}",
            first,
            remedy=whole,
        )
    return float(whole)


def _is_group(digits: Word) -> bool:
    """Whether these are three digits, with or without decimals after them."""
    return len(digits.text.partition(".")[0]) == 3


def _check_group(cursor: Cursor, first: Word, last: Word, text: str, groups: int) -> None:
    """Refuse 6,500 in the style of 6.5: one group after one digit, other than 000."""
    if groups == 1 and len(first.text) == 1 and last.end - first.start == 5 and text[-3:] != "000":
        raise cursor.error(
            f"'{first.text},{text[1:]}' can be read in two ways: write {text}, or "
            f"{first.text}.{text[1:]}",
            first,
        )


def _follows(cursor: Cursor, last: Word) -> bool:
    """Whether a comma with digits, or a group of three digits after a blank, comes next."""
    word, after = cursor.peek(), cursor.peek(1)
    if word.kind == "COMMA":
        joined = word.start == last.end and after.start == word.end
        return joined and after.kind == "NUMBER" and after.text[:1].isdecimal()
    blank = word.start == last.end + 1
    return word.kind == "NUMBER" and blank and len(word.text) == 3 and word.text.isdecimal()


def _check_end(cursor: Cursor, first: Word, last: Word, decimal: str = "") -> None:
    """Refuse a number that can be read in two ways: 126.000,5 or 50.000."""
    money = first.start > 0 and cursor.line[first.start - 1] in "$€£¥"
    odd = _THOUSANDS.fullmatch(first.text) and (money or first.text.endswith(".000"))
    if odd and decimal != ".":
        whole = first.text.replace(".", "")
        raise cursor.error(
            f"'{first.text}' can be read in two ways: write {whole}, or "
            f"{float(first.text):g} without the zeros",
            first,
        )
    word, after = cursor.peek(), cursor.peek(1)
    more = word.kind == "COMMA" and after.start == word.end == last.end + 1
    if (more and after.kind == "NUMBER") or (word.kind == "NUMBER" and word.start == last.end):
        raise cursor.error(
            f"'{cursor.line[first.start : (after if more else word).end]}' can be read in two "
            "ways: write the number with a point and without marks between its digits, "
            "as in 126000.5",
            first,
        )


def _thousand(cursor: Cursor) -> float:
    """1,000 if a k is written at the number."""
    word, before = cursor.peek(), cursor.words[cursor.at - 1]
    if word.kind == "NAME" and word.text in ("k", "K") and word.start == before.end:
        if cursor.vocabulary is not None and cursor.vocabulary.is_name(word.text):
            raise cursor.error(
                f"'{word.text}' is a feature and a thousand: write 1000 or 1*{word.text}"
            )
        cursor.take()
        return 1000.0
    if word.kind == "NAME" and word.low in SCALE_WORDS:  # 1.5 million
        if cursor.vocabulary is not None and cursor.vocabulary.is_name(word.text):
            return 1.0
        cursor.take()
        return SCALE_WORDS[word.low]
    return 1.0


def _million(cursor: Cursor) -> float:
    """A million or a thousand million where a letter at a sum of money says so: $1.2M, €3bn."""
    word, before = cursor.peek(), cursor.words[cursor.at - 1]
    sizes = {"m": 1e6, "mn": 1e6, "mm": 1e6, "b": 1e9, "bn": 1e9, "tn": 1e12}
    if word.kind == "NAME" and word.start == before.end and word.low in sizes:
        cursor.take()
        return sizes[word.low]
    return 1.0


def _power_of_ten(cursor: Cursor, value: float) -> float:
    """The number with a power of ten after it: 1.5 x 10^9, 10⁹."""
    before = cursor.words[cursor.at - 1]
    if cursor.peek().kind == "POWER" and before.kind == "NUMBER":
        exponent = _exponent(cursor)
        if exponent is None or abs(exponent) > 300:
            raise cursor.error("write the power as a number, as in 1e9")
        return value**exponent if value else 0.0
    word = cursor.peek()
    times = word.kind == "TIMES" or (word.kind == "NAME" and word.low == "x")
    if times and _TEN_PER.match(unit_at(cursor.line, word.start)):
        return value  # 12 x 10^9/L is 12 of a unit
    ten = cursor.peek(1)
    if times and ten.kind == "NUMBER" and ten.text == "10" and cursor.peek(2).kind == "POWER":
        cursor.at += 2
        exponent = _exponent(cursor)
        if exponent is not None and abs(exponent) <= 300:
            return value * 10.0**exponent
        raise cursor.error("write the power as a number, as in 1e9")
    return value


def _exponent(cursor: Cursor) -> int | None:
    sign = cursor.take()
    if sign.text not in ("^", "**"):
        digits = "".join(_DIGITS.get(mark, "") for mark in sign.text)
        return int(digits) if digits.strip("-") else None
    minus = cursor.accept("MINUS") is not None
    number = cursor.accept("NUMBER")
    if number is None or not number.text.isdecimal() or len(number.text) > 3:
        return None
    return -int(number.text) if minus else int(number.text)


def read_unit(cursor: Cursor) -> str:
    """Step over the unit that comes next and give it back, tidied; nothing if there is none."""
    word = cursor.peek()
    if _is_inches(cursor):
        cursor.take()
        return "inches"
    if cursor.is_over or word.low in RESERVED or word.low == "patients":
        return ""
    unit = unit_at(cursor.line, word.start)
    end = word.start + len(unit)
    if not unit or (unit == "%" and cursor.says("of", ahead=1)):
        return ""
    if unit == "min" and cursor.peek(1).kind == "OPEN":
        return ""  # 2 min(a, b)
    before = cursor.words[cursor.at - 1] if cursor.at else word
    if unit in ("m", "M") and word.start == before.end:
        raise cursor.error("'m' can be a million or a metre: write the number in full, or a blank")
    if _is_own(cursor, unit):
        cursor.take()  # rpm > 3000 rpm
        return ""
    if cursor.vocabulary is not None and cursor.vocabulary.is_name(unit):
        raise cursor.error(
            f"'{unit}' is a feature and looks like a unit: write * for the feature, "
            f"as in 2*{unit}, or leave the unit out"
        )
    while not cursor.is_over and cursor.peek().start < end:
        cursor.take()
    return "%" if unit in ("percent", "pct") else " ".join(unit.split())


def _is_own(cursor: Cursor, unit: str) -> bool:
    """Whether the feature that is compared is called like the unit after the number."""
    side = cursor.subject
    if not isinstance(side, tuple) or len(side) != 1 or not side[0].names:
        return False
    return bool(str(side[0].names[0]).lower() == unit.lower() == cursor.peek().low)


def _is_inches(cursor: Cursor) -> bool:
    """Whether `in` after a number is a unit: nothing follows that something could be in."""
    if not cursor.says("in") or not cursor.at:
        return False
    after = cursor.peek(1)
    ends = after.low in ("and", "or", "unless", "but", "then", "worth", "to", "with", "plus")
    return ends or after.kind in ("END", "ARROW", "CLOSE", "COMMA", "AND", "OR", "PLUSMINUS")


_FEET: Final = re.compile(r"\d+(?:\.\d+)?")
_TEN_PER: Final = re.compile(r"(?:[x×*·⋅∙]\s*)?10.*/")
_GROUP: Final = re.compile(r"\.\d{3}")
_GROUPED: Final = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+")
_THOUSANDS: Final = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_DIGITS: Final = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True))
