"""Numbers as people write them: 6,5 and 50,000, 50k, 1½, 10^9, with a unit after them.

Marks are taken only where they cannot be misread; what can be is refused. A unit is written for the
reader and left out of the arithmetic.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from hipad.rules.language.spelling import RESERVED, checked_number, rule_error, spoken
from hipad.rules.language.words.cursor import Cursor
from hipad.rules.language.words.lexing import Word

_PLAIN: Final = spoken(
    "m2 m3 cm2 cm3 mm2 mm3 mg g kg µg μg ug ng pg lb lbs oz mmol µmol μmol umol nmol pmol mol "
    "mEq meq IU mIU U mU L l "
    "dL dl mL ml µL μL uL cm mm m km nm µm inch inches ft feet mmHg cmH2O kPa bar Hz ms s sec "
    "seconds minutes mins hours hour hrs h d day days week weeks wk month months mo year years yr "
    "yrs y yo bpm beats breaths cells copies counts TPM RPKM FPKM CPM units unit points pts "
    "degrees USD EUR GBP CHF dollars euros pounds percent pct kcal kJ C F K fold nodes "
    "drinks packs cigarettes bp kb Mb patients "
    "A mA V mV kV W kW MW kWh N kN Nm J Pa MPa hPa psi rpm kHz MHz GHz dB ppm ppb mut mutations"
)
_UNIT: Final = "|".join(sorted(map(re.escape, _PLAIN), key=len, reverse=True))
_POWER: Final = r"(?:\^-?\d|[²³])?"
_WHOLE: Final = re.compile(
    rf"(?:[x×*]\s*10\s*(?:\^\s*)?[\d⁰¹²³⁴-⁹]+\s*)?"
    rf"(?:/(?=\s?(?:L|l|µL|uL|mL|mm3)\b)(?:\s?(?:L|l|µL|uL|mL|mm3))|°\s?[CF]?|℃|℉|%|[$€£¥]|(?:{_UNIT}){_POWER}(?![\w.])|/(?=\s?(?:{_UNIT}|mm3|min)(?!\w)))"
    rf"(?:\s?(?:/|per\s)\s?(?:{_UNIT}|mm3|min|1\.73\s?m2|kg){_POWER}(?!\w))*"
    rf"(?:\s?(?:of\s+age|old|Hg)(?!\w))?"
)


def unit_at(text: str, start: int) -> str:
    """The unit that stands in the text from `start` on, or nothing.

    >>> unit_at("126 mg/dL and", 4), unit_at("30 kg/m2", 3), unit_at("3 apples", 2)
    ('mg/dL', 'kg/m2', '')
    """
    found = _WHOLE.match(text, start)
    return found[0].strip() if found else ""


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


def is_number(cursor: Cursor, ahead: int = 0) -> bool:
    """Whether a number without a sign comes next."""
    word = cursor.peek(ahead)
    if word.kind == "MONEY":
        word = cursor.peek(ahead + 1)
    return word.kind in ("NUMBER", "FRACTION", "HEX")


def _digits(cursor: Cursor, listing: bool) -> float:
    cursor.accept("MONEY")
    first = cursor.take()
    if first.kind == "FRACTION":
        return unicodedata.numeric(first.text)
    text, last = re.sub("[_'’]", "", first.text), first
    if listing:
        return float(text)
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
    _check_group(cursor, first, last, text, groups)
    _check_end(cursor, first, last)
    return float(text)


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


def _check_end(cursor: Cursor, first: Word, last: Word) -> None:
    """Refuse a number that can be read in two ways: 126.000,5 or 50.000."""
    money = first.start > 0 and cursor.line[first.start - 1] in "$€£¥"
    if _THOUSANDS.fullmatch(first.text) and (money or first.text.endswith(".000")):
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
    if cursor.is_over or word.low in RESERVED or word.low == "patients":
        return ""
    unit = unit_at(cursor.line, word.start)
    end = word.start + len(unit)
    if not unit or (unit == "%" and cursor.says("of", ahead=1)):
        return ""
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


_THOUSANDS: Final = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_DIGITS: Final = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True))
