"""Units of measurement: what a written unit is, which one a column's name holds, and conversion.

`tumor_size_mm > 5 cm` means 50. A unit is a factor to the base units of its kind (metre, gram,
second, mole, ...), so that units of one kind convert into each other; a laboratory value also
converts between mass and amount of substance, by the molar mass of what the column is called after.
Nothing here looks at values: what a number means depends on names alone, and is the same in every
fold. The table is our own: pint takes 0.7 s to load, longer than a rule takes to be read on the
largest table, and knows neither what a column's name says nor what is measured in it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

Kind = tuple[tuple[str, int], ...]
"""Base units and their powers: mg/dl is (("g", 1), ("m", -3))."""


@dataclass(frozen=True)
class Unit:
    """A unit: base units = factor * value + offset; `offset` is that of a temperature."""

    text: str
    factor: float
    kind: Kind
    offset: float = 0.0


@dataclass(frozen=True)
class ColumnUnit:
    """The unit that a column's name holds; `sure` is False for a letter or two at its end."""

    unit: Unit
    sure: bool


@dataclass(frozen=True)
class Substance:
    """What is measured: gram per mole, charges of an ion, gram per international unit."""

    name: str
    mass: float
    valence: int = 1
    iu: float = 0.0


_PREFIXES: Final = {
    "": 1.0, "k": 1e3, "h": 1e2, "d": 1e-1, "c": 1e-2, "m": 1e-3, "µ": 1e-6, "u": 1e-6, "mc": 1e-6,
    "n": 1e-9, "p": 1e-12, "f": 1e-15, "M": 1e6, "G": 1e9,
}  # fmt: skip
# base: (factor, kind, prefixes that it is used with)
_SYMBOLS: Final[dict[str, tuple[float, Kind, str]]] = {
    "m": (1.0, (("m", 1),), "k d c m µ u n"),
    "g": (1.0, (("g", 1),), "k d c m µ u mc n p f"),
    "l": (1e-3, (("m", 3),), "h d c m µ u mc n p f"),
    "L": (1e-3, (("m", 3),), "h d c m µ u mc n p f"),
    "s": (1.0, (("s", 1),), "m µ u n"),
    "mol": (1.0, (("mol", 1),), "k m µ u mc n p f"),
    "M": (1e3, (("m", -3), ("mol", 1)), "m µ u n p"),
    "Pa": (1.0, (("Pa", 1),), "k h M G m"),
    "bar": (1e5, (("Pa", 1),), "m"),
    "U": (1.0, (("U", 1),), "k m µ u n M"),
    "IU": (1.0, (("U", 1),), "k m µ u n M"),
    "UI": (1.0, (("U", 1),), "k m µ u"),
    "kat": (6e7, (("U", 1),), "m µ u n"),
    "eq": (1.0, (("eq", 1),), "m µ u n"),
    "Eq": (1.0, (("eq", 1),), "m µ u n"),
    "val": (1.0, (("eq", 1),), "m"),
    "osm": (1.0, (("osm", 1),), "m"),
    "Osm": (1.0, (("osm", 1),), "m"),
    "osmol": (1.0, (("osm", 1),), "m"),
    "Hz": (1.0, (("s", -1),), "k M G"),
    "W": (1.0, (("J", 1), ("s", -1)), "k M G m"),
    "J": (1.0, (("J", 1),), "k M G"),
    "cal": (4.184, (("J", 1),), "k"),
    "Wh": (3600.0, (("J", 1),), "k M"),
    "V": (1.0, (("V", 1),), "k m µ u"),
    "A": (1.0, (("A", 1),), "k m µ u n"),
    "N": (1.0, (("N", 1),), "k m"),
    "Ah": (3600.0, (("A", 1), ("s", 1)), "k m"),
    "ohm": (1.0, (("ohm", 1),), "k m µ u M"),
    "ohms": (1.0, (("ohm", 1),), "k m M"),
    "Ω": (1.0, (("ohm", 1),), "k m µ M"),
    "Nm": (1.0, (("Nm", 1),), "k m"),
    "Gy": (1.0, (("Gy", 1),), "c m"),
    "Sv": (1.0, (("Sv", 1),), "m µ u"),
    "Bq": (1.0, (("Bq", 1),), "k M G"),
}
_LENGTH, _MASS, _TIME, _VOLUME = (("m", 1),), (("g", 1),), (("s", 1),), (("m", 3),)
_PRESSURE, _NONE, _RATE = (("Pa", 1),), (), (("s", -1),)
_MINUTE, _HOUR, _DAY, _YEAR = 60.0, 3600.0, 86400.0, 365.25 * 86400.0
_MMHG: Final = 133.322387415
_POUND, _INCH, _GALLON = 453.59237, 0.0254, 3.785411784e-3
# words: (factor, kind, spellings)
_WORDS: Final[tuple[tuple[float, Kind, str], ...]] = (
    (1.0, _LENGTH, "metre metres meter meters"),
    (1e-2, _LENGTH, "centimetre centimetres centimeter centimeters"),
    (1e-3, _LENGTH, "millimetre millimetres millimeter millimeters"),
    (1e3, _LENGTH, "kilometre kilometres kilometer kilometers"),
    (1e-6, _LENGTH, "micrometre micrometres micrometer micrometers micron microns"),
    (1e-10, _LENGTH, "Å angstrom angstroms"),
    (_INCH, _LENGTH, "in inch inches"),
    (12 * _INCH, _LENGTH, "ft foot feet"),
    (36 * _INCH, _LENGTH, "yd yard yards"),
    (1609.344, _LENGTH, "mi mile miles"),
    (1.0, _MASS, "gram grams gramme grammes gm gms"),
    (1e3, _MASS, "kilogram kilograms kilo kilos kgs"),
    (1e-3, _MASS, "milligram milligrams mgs"),
    (1e-6, _MASS, "microgram micrograms gamma"),
    (1e6, _MASS, "tonne tonnes ton tons"),
    (_POUND, _MASS, "lb lbs pound pounds"),
    (_POUND / 16, _MASS, "oz ounce ounces"),
    (14 * _POUND, _MASS, "st stone stones"),
    (1e-3, _VOLUME, "litre litres liter liters ltr"),
    (1e-6, _VOLUME, "millilitre millilitres milliliter milliliters cc ccm"),
    (_GALLON, _VOLUME, "gal gallon gallons"),
    (_GALLON / 128, _VOLUME, "floz"),
    (_GALLON / 8, _VOLUME, "pint pints"),
    (1.0, _TIME, "sec secs second seconds"),
    (1e-3, _TIME, "msec msecs millisecond milliseconds"),
    (_MINUTE, _TIME, "min mins minute minutes"),
    (_HOUR, _TIME, "h hr hrs hour hours"),
    (_DAY, _TIME, "d day days"),
    (7 * _DAY, _TIME, "wk wks week weeks"),
    (_YEAR / 12, _TIME, "mo mos mth mths month months"),
    (_YEAR, _TIME, "y yr yrs yo year years"),
    (10 * _YEAR, _TIME, "decade decades"),
    (_MMHG, _PRESSURE, "mmHg torr Torr"),
    (10 * _MMHG, _PRESSURE, "cmHg"),
    (25.4 * _MMHG, _PRESSURE, "inHg"),
    (98.0665, _PRESSURE, "cmH2O cmh2o cmWC"),
    (101325.0, _PRESSURE, "atm"),
    (6894.757293168, _PRESSURE, "psi PSI"),
    (1 / 60, _RATE, "bpm rpm"),
    (1e3 / _HOUR, (("m", 1), ("s", -1)), "kmh kph"),
    (1609.344 / _HOUR, (("m", 1), ("s", -1)), "mph"),
    (1852 / _HOUR, (("m", 1), ("s", -1)), "knot knots kn kt kts"),
    (0.01, _NONE, "% percent pct perc"),
    (0.001, _NONE, "‰ permille"),
    (1e-6, _NONE, "ppm"),
    (1e-9, _NONE, "ppb"),
    (1.0, _NONE, "fraction frac proportion prop"),
    (10.0, (("g", 1), ("m", -3)), "mg%"),
    (1e4, (("g", 1), ("m", -3)), "g%"),
    (1e12, (("m", -3),), "Gpt/l Gpt/L"),
    (3.141592653589793 / 180, (("rad", 1),), "deg degree degrees °"),
    (1.0, (("rad", 1),), "rad radian radians"),
)  # fmt: skip
_TEMPERATURES: Final = {
    "C": (1.0, 273.15),
    "F": (5 / 9, 459.67 * 5 / 9),
    "K": (1.0, 0.0),
}
_TEMPERATURE_WORDS: Final = {
    "c": "C", "°c": "C", "degc": "C", "degreesc": "C", "celsius": "C", "degreescelsius": "C",
    "degcelsius": "C", "centigrade": "C", "℃": "C",
    "f": "F", "°f": "F", "degf": "F", "degreesf": "F", "fahrenheit": "F", "degfahrenheit": "F",
    "degreesfahrenheit": "F", "℉": "F",
    "k": "K", "°k": "K", "degk": "K", "kelvin": "K", "kelvins": "K",
}  # fmt: skip
_MONEY: Final = {
    "$": "USD", "usd": "USD", "us$": "USD", "dollar": "USD", "dollars": "USD",
    "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR",
    "£": "GBP", "gbp": "GBP", "¥": "JPY", "jpy": "JPY", "yen": "JPY", "chf": "CHF", "dm": "DM",
    "cny": "CNY", "inr": "INR", "aud": "AUD", "cad": "CAD", "sek": "SEK", "nok": "NOK",
    "dkk": "DKK", "pln": "PLN",
}  # fmt: skip
_CENTS: Final = {"cent": 0.01, "cents": 0.01}
# What is counted: no unit that could be another one, but it may stand before a per.
_COUNTED: Final = (
    "beats breaths cells copies counts units unit points pts fold nodes drinks packs cigarettes "
    "bp kb Mb patients TPM RPKM FPKM CPM cfu CFU platelets leukocytes events episodes persons "
    "people times dB mut mutations"
)
COUNTED: Final = frozenset(_COUNTED.split())
_SCALES: Final = {
    "k": 1e3, "K": 1e3, "th": 1e3, "thou": 1e3, "tsd": 1e3, "thousand": 1e3, "thousands": 1e3,
    "M": 1e6, "mn": 1e6, "mio": 1e6, "mill": 1e6, "million": 1e6, "millions": 1e6, "G": 1e9,
    "bn": 1e9, "billion": 1e9, "billions": 1e9, "T": 1e12,
}  # fmt: skip
SCALE_WORDS: Final = {
    word: _SCALES[word] for word in ("thousand", "million", "millions", "mio", "billion", "bn")
}

_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_RAISED: Final = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+")
_POWER: Final = re.compile(r"(?:[x×*·]\s?)?10\s?(?:\^|\*\*|\*|e|E)\s?(\d{1,2})(?!\d)")
_BODY_AREA: Final = re.compile(r"/\s?1[._]?73\s?m\^?2")  # as good as always left out in names
_EXPONENT: Final = re.compile(r"(.+?)\^?(-[1-3]|[23])$")  # L1 is a phase, no litre
_NUMBERED: Final = re.compile(r"(\d+(?:\.\d+)?)\s?(.+)")


@cache
def _symbols() -> dict[str, tuple[float, Kind]]:
    """Return every spelling of a simple unit, as it is written."""
    found: dict[str, tuple[float, Kind]] = {}
    for factor, kind, words in _WORDS:
        for word in words.split():
            found[word] = factor, kind
    for symbol, (factor, kind, prefixes) in _SYMBOLS.items():
        for prefix in ("", *prefixes.split()):
            scale = factor * _PREFIXES[prefix]
            found.setdefault(prefix + symbol, (scale, kind))
    return found


@cache
def _lowered() -> dict[str, tuple[float, Kind]]:
    """Return the same in small letters; milli goes before mega."""
    found: dict[str, tuple[float, Kind]] = {}
    for text, unit in sorted(_symbols().items(), key=lambda pair: pair[0][0] in "MG"):
        found.setdefault(text.lower(), unit)  # mIU before MIU
    return found | {text: unit for text, unit in _symbols().items() if text.islower()}


def _simple(text: str) -> tuple[float, Kind] | None:
    """Return one unit without a power: as written, or in other case where that can be only one."""
    return _symbols().get(text) or _lowered().get(text.lower())


def tidied(text: str) -> str:
    """Return a unit with one sign for each thing: powers as ^2, one µ, no double blanks."""
    raised = _RAISED.sub(lambda found: "^" + found[0].translate(_SUPERSCRIPTS), text)
    same = unicodedata.normalize("NFKC", raised.replace("℃", "°C").replace("℉", "°F"))
    return " ".join(same.replace("μ", "µ").replace("º", "°").split())


@lru_cache(maxsize=4096)
def unit_of(text: str) -> Unit | None:
    """Return the unit that a text is; None where it is none, or counts something (cells, points).

    >>> unit_of("mg/dL").kind == unit_of("g/l").kind, unit_of("mg/dL").factor
    (True, 10.0)
    >>> round(unit_of("x 10^9/L").factor / unit_of("K/µl").factor, 12), unit_of("apples")
    (1.0, None)
    """
    tidy = tidied(text)
    tidy = re.sub(r"\s?(?:of\s+age|old)$", "", tidy)
    if not tidy or len(tidy) > 60:
        return None
    if (temperature := _temperature(tidy)) is not None:
        return Unit(text, *temperature)
    if (money := _money(tidy)) is not None:
        return Unit(text, *money)
    found = _simple(tidy.replace(" ", "")) or _composed(tidy)
    return None if found is None else Unit(text, found[0], found[1])


def _temperature(tidy: str) -> tuple[float, Kind, float] | None:
    word = _TEMPERATURE_WORDS.get(tidy.replace(" ", "").lower())
    if word is None or tidy in ("k", "f", "c"):
        return None
    factor, offset = _TEMPERATURES[word]
    return factor, (("K", 1),), offset


def _money(tidy: str) -> tuple[float, Kind] | None:
    low = tidy.lower().replace(" ", "")
    if low in _MONEY:
        return 1.0, (("money " + _MONEY[low], 1),)
    for scale, factor in sorted(_SCALES.items(), key=lambda pair: -len(pair[0])):
        for rest in (
            low[len(scale) :] if low.startswith(scale.lower()) else "",
            low[: -len(scale)] if low.endswith(scale.lower()) else "",
        ):
            if rest in _MONEY:
                return factor, (("money " + _MONEY[rest], 1),)
    return None


def _composed(tidy: str) -> tuple[float, Kind] | None:
    """Return units multiplied and divided: mg/dl, kg·m^-2, 10^9/L, ml/min/1.73 m2."""
    text = _BODY_AREA.sub("", re.sub(r"\s*\bper\b\s*", "/", tidy))
    text = re.sub(r"\s*/\s*", "/", text)
    top, *below = text.split("/")
    factor, kind = 1.0, dict[str, int]()
    if top:
        parts = _product(top, counted=bool(below))
        if parts is None:
            return None
        factor, kind = parts
    elif not below:
        return None
    for part in below:
        divisor = _product(part, counted=False)
        if divisor is None:
            return None
        factor /= divisor[0]
        for base, power in divisor[1].items():
            kind[base] = kind.get(base, 0) - power
    return factor, tuple(sorted((base, power) for base, power in kind.items() if power))


def _product(text: str, *, counted: bool) -> tuple[float, dict[str, int]] | None:
    """Return units beside each other, with powers and a number before them."""
    factor, kind = 1.0, dict[str, int]()
    rest = text.strip()
    if power := _POWER.match(rest):
        factor, rest = 10.0 ** int(power[1]), rest[power.end() :].strip(" *·×")
        counted = True
    elif counted and rest in _SCALES:
        return _SCALES[rest], kind  # K/µl, G/l
    elif counted and rest.lower() in ("k", "thou", "tsd", "th", "mio", "million", "thousand"):
        return _SCALES[rest.lower()], kind
    elif (number := _NUMBERED.match(rest)) and not _simple(rest):
        factor, rest = float(number[1]), number[2]
    if not rest:
        return (factor, kind) if counted else None
    for word in re.split(r"[·*×⋅]|(?<=\w)\.(?=\w)|\s+", rest):
        if not word:
            continue
        if counted and (word in COUNTED or word.lower() in ("beat", "breath", "cell", "copy")):
            continue
        found = _raised(word)
        if found is None:
            return None
        factor *= found[0]
        for base, times in found[1]:
            kind[base] = kind.get(base, 0) + times
    return factor, kind


def _raised(word: str) -> tuple[float, Kind] | None:
    """Return one unit, maybe with a power: m2, cm^3, dl-1."""
    if simple := _simple(word):
        return simple
    if word in ("qm", "sqm"):
        return 1.0, (("m", 2),)
    exponent = _EXPONENT.fullmatch(word)
    simple = _simple(exponent[1]) if exponent else None
    if exponent is None or simple is None:
        return None
    power = int(exponent[2])
    return simple[0] ** power, tuple((base, n * power) for base, n in simple[1])


# Where a unit stands in a text ------------------------------------------------------------------


# Too short or too much of a word to be taken as a unit after a number.
_UNWRITTEN: Final = (
    "M kn kt kts mi eq ton tons in prop frac fraction proportion deg rad gamma pint pints val "
    "times people persons"
)


@cache
def _pattern() -> re.Pattern[str]:
    """Return a unit in a text: simple units with powers, joined by / and per and blanks
    before Hg.
    """
    names = {*_symbols(), *COUNTED, *(name.upper() for name in ("mg", "kg", "ml", "cm", "mm"))}
    names |= {"MG", "DL", "Mg", "Kg", "Ml", "KG", "CM", "MM", "Years", "Days", "Weeks", "Months"}
    names |= {"usd", "USD", "EUR", "GBP", "CHF", "JPY", "dollars", "euros", "dollar", "euro"}
    names |= {"C", "F", "K"}
    names |= {f"{unit}{power}" for unit in ("m", "cm", "mm", "km", "dm", "ft") for power in "23"}
    names -= set(_UNWRITTEN.split())
    words = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    words = words.replace("µ", "[µμ]")
    power = r"(?:\^-?\d|-[1-3](?!\d)|[⁻]?[²³¹])?"
    unit = rf"(?:{words}){power}(?![\w])"
    ten = r"(?:[x×*]\s*)?10\s*(?:\^\s*|\*\*\s*|e|E|\*)?\s*[\d⁰¹²³⁴-⁹]{1,2}(?!\d)\s*"
    volume = r"(?:[fpnµμmcd]|u)?[lL](?!\w)|(?:[mcµμ]|u)?m(?:\^?3|³)(?!\w)"
    scale = r"(?:[kKMGT]|Gpt|thou|tsd|mio|Mio|th|Th)"
    below = (
        rf"(?:1\.73\s?m(?:\^?2|²)|24\s?h(?:ours|rs?)?(?!\w)|100\s?m[lL](?!\w)|{unit}|mm(?:\^?3|³)|m(?:\^?[23]|[²³])(?!\w)"
        r"|min(?!\w))"
    )
    degrees = (
        r"°\s?[CFK](?!\w)|(?:deg|degrees?)\s?(?:[CFK](?!\w)|[Cc]elsius|[Ff]ahrenheit)|°|℃|℉|"
        r"[Cc]elsius|[Ff]ahrenheit|[Kk]elvin"
    )
    return re.compile(
        rf"(?:{ten}(?:cells?\s?)?/\s?(?:{volume})"  # 10^9/L
        rf"|{scale}\s?/\s?(?:{volume})"  # K/µl
        rf"|(?:cells\s?)?/\s?(?:{volume}|min(?!\w)|{unit})"  # /µl
        rf"|{degrees}|mg\s?%|%|‰|[kM]?[$€£¥]|mm\s?Hg(?!\w)|cm\s?(?:of\s)?H2O(?!\w)|in\s?Hg(?!\w)"
        rf"|fl\.?\s?oz(?!\w)|{unit})"
        rf"(?:(?:\s?(?:/|\bper\s)\s?{below})|[·⋅.*]\s?{unit}|\s(?:[mcµμu]?[lLgms]|dl|dL|min|kg)(?:-1|⁻¹|\^-1)(?!\w))*"
        rf"(?:\s?(?:of\s+age|old|Hg)(?!\w))?"
    )


def unit_at(text: str, start: int) -> str:
    """Return the unit that stands in the text from `start` on, or nothing.

    >>> unit_at("126 mg/dL and", 4), unit_at("30 kg/m2", 3), unit_at("3 apples", 2)
    ('mg/dL', 'kg/m2', '')
    """
    found = _pattern().match(text, start)
    return found[0].strip() if found else ""


# What a column's name says ----------------------------------------------------------------------

_BRACKETS: Final = re.compile(r"[(\[{]([^()\[\]{}]{1,40})[)\]}]")
_IN: Final = re.compile(r"(?:,|;|:|\bin\b|\bunit\b)\s*([^,;:]{1,30})$", re.IGNORECASE)
_CAMEL: Final = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-zµμ%°$€£]+|[A-Z]|\d+|[^\W\d_]+|[%°$€£‰]")
_TOKENS: Final = re.compile(r"[^\s_.\-/,;:()\[\]{}^]+")
_WEAK: Final = "m c f k s h d g l y t u min in st mo mi bar ton tons kn kt kts deg prop mol rad"
# Letters that are a unit only where the name tells what is measured.
_TOLD: Final = {
    "v": re.compile(r"volt|spannung|tension|emf", re.IGNORECASE),
    "a": re.compile(r"current|strom|amper", re.IGNORECASE),
    "n": re.compile(r"force|kraft|thrust|load", re.IGNORECASE),
    "pa": re.compile(r"press|druck", re.IGNORECASE),
    "j": re.compile(r"energ", re.IGNORECASE),
    "w": re.compile(r"power|leistung|watt", re.IGNORECASE),
}
_NEVER: Final = "hr second minute times cal val a n w j v gamma val ps pa u t eq"
_ABOVE: Final = "kg g mg µg ug mcg ng pg fg mol mmol µmol umol nmol pmol meq iu miu ml mosm"
_BELOW: Final = "l dl ml ul µl kg g day min h hr hour m2 mmol mol mm3"


@cache
def _glued() -> dict[str, str]:
    """Return units whose sign was left out in a name: mgdl, mmoll, kgm2."""
    found = {
        above + below: f"{above}/{below}"
        for above in _ABOVE.split()
        for below in _BELOW.split()
        if len(above + below) > 2 and above != below
    }
    found |= {"kmh": "km/h", "ms": "ms", "mlmin": "ml/min", "kgm2": "kg/m2", "lmin": "l/min"}
    for word in ("mm", "min", "ml", "mmol", "mol", "mmhg", "gm"):
        found.pop(word, None)
    return found


@lru_cache(maxsize=65536)
def unit_in_name(name: str) -> ColumnUnit | None:
    """Return the unit that the name of a column holds, or None.

    >>> unit_in_name("tumor_size_mm").unit.text, unit_in_name("Glucose (mg/dL)").unit.text
    ('mm', 'mg/dL')
    >>> unit_in_name("glucose_mg_dl").unit.text, unit_in_name("Age")
    ('mg/dl', None)
    """
    name = unicodedata.normalize("NFC", name)[:200]
    if "=" in name:
        return None
    found = _unit_in_name(name)
    if found is not None and found.unit.kind == (("mol", 1),) and substance_of(name) is not None:
        litre = Unit(f"{found.unit.text}/l", found.unit.factor * 1e3, (("m", -3), ("mol", 1)))
        return ColumnUnit(litre, found.sure)  # glucose_mmol: nobody counts the moles of a patient
    return found


@cache
def _last_words() -> frozenset[str]:
    """Return the words with which a unit at the end of a name may end, in small letters."""
    simple = [text.lower() for text in (*_symbols(), *_MONEY, *_TEMPERATURE_WORDS, *_glued())]
    return frozenset([*simple, "hg", "h2o", "m2", "m3", "2", "3", "k", "thousands", "millions"])


_LETTERS: Final = ("d", "h", "s")  # vitamin_d, factor_h and protein_s, more often than a time


def without_unit(name: str) -> str | None:
    """Return a column's name without the unit at its end; None where it has none there.

    >>> without_unit("lactate_mmol_l"), without_unit("temp_c"), without_unit("days_since_visit")
    ('lactate', 'temp', None)
    >>> without_unit("vitamin_d") is None
    True
    """
    words = list(_TOKENS.finditer(name))
    if len(words) < 2 or "=" in name or words[-1][0].lower() not in _last_words():
        return None
    for at in range(max(1, len(words) - 5), len(words)):
        parts = [word[0] for word in words[at:]]
        if len(parts) == 1 and parts[0].lower() in _LETTERS:
            continue
        if not _is_never(parts, name) and _window(parts, name) is not None:
            return name[: words[at - 1].end()]
    return None


def _unit_in_name(name: str) -> ColumnUnit | None:
    for inside in _BRACKETS.findall(name):
        if (unit := _named(inside.strip(), name)) is not None:
            return ColumnUnit(unit, True)
    if (last := _IN.search(name)) and (unit := _named(last[1].strip(), name)) is not None:
        return ColumnUnit(unit, True)
    *before, last_word = name.split() or [""]
    if before and "/" in last_word and (unit := _named(last_word, name)) is not None:
        return ColumnUnit(unit, True)
    return _in_tokens(name)


def _named(text: str, name: str) -> Unit | None:
    """Return a unit that stands apart in a name; G/l of cells is no mass."""
    unit = unit_of(text) or (unit_of(text.lower()) if text.isupper() else None)
    if unit is None and text.lower() in ("thousands", "thousand", "k", "millions", "million"):
        return Unit(text, _SCALES[text.lower()], (("money", 1),))
    return unit if unit is None else fitted(unit, name)


def fitted(unit: Unit, name: str) -> Unit:
    """Return the unit as it is meant of a column: g/l of blood cells is giga per litre."""
    text = unit.text.replace(" ", "")
    if text.lower() != "g/l":
        return unit
    if is_cell_count(name):
        return Unit("G/l", 1e12, (("m", -3),))
    return Unit(unit.text, 1e3, (("g", 1), ("m", -3))) if text == "G/L" else unit


def _in_tokens(name: str) -> ColumnUnit | None:
    tokens = list(_TOKENS.findall(name))
    for parts in (tokens, _camel(tokens)):
        for end in range(len(parts), 1, -1):  # at least one word is what is measured
            least = 0 if "per" in parts[1:2] else 1
            for start in range(max(least, end - 5), end):
                unit = _window(parts[start:end], name)
                if unit is None:
                    continue
                sure = _is_sure(parts[start:end])
                if (sure or end == len(parts)) and not _is_never(parts[start:end], name):
                    return ColumnUnit(unit, sure)
        first = parts[:1]
        alone = len(parts) < 2 or not _is_sure(first) or _is_never(first, name)
        if not alone and (unit := _window(first, name)) is not None:
            return ColumnUnit(unit, True)  # days_since_admission
    return None


def _camel(tokens: list[str]) -> list[str]:
    return [part for token in tokens for part in (_CAMEL.findall(token) or [token])]


def _is_sure(parts: list[str]) -> bool:
    return len(parts) > 1 or parts[0].lower() not in _WEAK.split()


def _is_never(parts: list[str], name: str) -> bool:
    word = parts[0].lower()
    if len(parts) > 1 or word not in _NEVER.split():
        return False
    summary = _TOLD.get(word)
    return summary is None or summary.search(name) is None


def _window(parts: list[str], name: str) -> Unit | None:
    """Return the unit that some neighbouring words of a name make, or None."""
    for text in _spellings(parts):
        unit = unit_of(text)
        if unit is None:
            continue
        if len(parts) == 1 and unit.kind == (("K", 1),) and not _is_temperature(parts[0], name):
            continue
        if unit.kind not in _usual_kinds():
            continue  # vitamin_d_nmol_l, I_L2
        if text == "ms" and _SPEED.search(name):
            return Unit("m/s", 1.0, (("m", 1), ("s", -1)))
        return fitted(unit, name)
    if len(parts) == 1:
        if (glued := _glued().get(parts[0].lower())) is not None:
            unit = unit_of(glued)
            return None if unit is None else fitted(Unit(glued, unit.factor, unit.kind), name)
        scale = {"k": 1e3, "thousands": 1e3, "thousand": 1e3, "tsd": 1e3, "millions": 1e6,
                 "million": 1e6, "mio": 1e6, "mn": 1e6}.get(parts[0].lower())  # fmt: skip
        if scale is not None:
            return Unit(parts[0], scale, (("money", 1),))
    return None


_SPEED: Final = re.compile(r"speed|veloc|wind", re.IGNORECASE)


@cache
def _usual_kinds() -> frozenset[Kind]:
    """Return the kinds of units that a name of several words may hold."""
    texts = (
        "g/day mol/day U/day U/kg mmol/kg ml/kg ml/kg/h l/min/m2 W/kg mg/m2 J/day mosm/kg USD EUR"
    )
    texts += " mg/mol U/g mol/g kcal/kg m/s2 km/h g/m3 mol/mol U/mol osm/l rad/s"
    units = [unit_of(text) for text in [*texts.split(), *" ".join(_USUAL).split()]]
    own = [kind for _, kind in _symbols().values()]
    return frozenset([*own, *(unit.kind for unit in units if unit is not None), *_KIND_NAMES]) | {
        ((f"money {currency}", 1),) for currency in _MONEY.values()
    }


def _is_temperature(part: str, name: str) -> bool:
    """Return whether c, f and k are degrees: in the name of a temperature, or written out."""
    return len(part) > 2 or bool(_TEMPERATURE.search(name))


_TEMPERATURE: Final = re.compile(
    r"temp|fever|celsius|fahrenheit|tmax|tmin|^t_|bath|oven|heat", re.I
)


_TWO_WORDS: Final = {
    ("mm", "hg"), ("cm", "hg"), ("in", "hg"), ("cm", "h2o"), ("deg", "c"), ("deg", "f"),
    ("degrees", "c"), ("degrees", "f"), ("fl", "oz"),
}  # fmt: skip
_SHARES: Final = frozenset(["pct", "percent", "perc", "fraction", "frac", "prop", "proportion"])


def _spellings(parts: list[str]) -> Iterator[str]:
    """Yield how neighbouring words of a name may be one unit: mg dl as mg/dl, 10 9 l as 10^9/l."""
    low = [part.lower() for part in parts]
    if len(parts) == 1:
        yield parts[0].upper() if low[0] in ("c", "f", "k") else parts[0]
        if parts[0].isupper() or parts[0].istitle():
            yield low[0]
        return
    if "per" in low:
        at = low.index("per")
        yield f"{' '.join(parts[:at])}/{'/'.join(parts[at + 1 :])}"
        return
    if (low[0], low[1]) in _TWO_WORDS:
        yield " ".join(parts)
        return
    if len(parts) == 2 and set(low) & set(_MONEY):
        yield "".join(parts)  # k usd
        return
    if set(low) & _SHARES or low[0] == "in":
        return  # ejection_fraction_pct, age_in_months
    ten = re.fullmatch(r"x?10(?:e|\*)?(\d{0,2})", low[0])
    if ten:
        power = ten[1] or low[1]
        rest = parts[1:] if ten[1] else parts[2:]
        if power.isdecimal() and rest:
            yield f"10^{power}/{'/'.join(rest)}"
        return
    if low[-1] in ("2", "3") and len(parts) > 2:
        yield f"{'/'.join(parts[:-1])}{parts[-1]}"
    yield "/".join(parts)
    if any(part != small for part, small in zip(parts, low, strict=True)):
        yield "/".join(low)


# What is measured -------------------------------------------------------------------------------

_SUBSTANCES: Final[tuple[tuple[str, float, int, float, str], ...]] = (
    # name, g/mol, charges, gram per IU, and how columns are called; after & only where a name
    # begins, or serum or the like goes before
    ("albumin to creatinine", 113.12, 1, 0.0, r"u?acr|albumin.?(?:to.?)?creatinine"),
    ("HbA1c", 0.0, 1, 0.0, r"hb.?a1c?|a1c|hemoglobin.?a1c?|glycated|glycosylated|ghb"),
    ("urea nitrogen", 28.014, 1, 0.0, r"bun|urea.?n(?:itrogen)?"),
    ("glucose", 180.156, 1, 0.0,
     r"glu|gluc\w*|glycemia|glycaemia|fpg|fbg|fbs|ppg|rbg|rbs|bg|ogtt|(?:blood.?)?sugar|glukose|bz"),
    ("HDL cholesterol", 386.65, 1, 0.0, r"hdl\w*"),
    ("LDL cholesterol", 386.65, 1, 0.0, r"v?ldl(?:c|.c|chol\w*)?"),
    ("cholesterol", 386.65, 1, 0.0, r"chol\w*|tc|tchol|cholest\w*"),
    ("triglycerides", 885.4, 1, 0.0, r"tg|tgs|trig\w*|triglyc\w*"),
    ("creatinine", 113.12, 1, 0.0, r"s?crea\w*|scr|kreatinin\w*|&cr"),
    ("bilirubin", 584.66, 1, 0.0, r"[td]?.?bili\w*"),
    ("uric acid", 168.11, 1, 0.0, r"ua|uric\w*|urate|harnsäure"),
    ("urea", 60.06, 1, 0.0, r"urea|harnstoff"),
    ("calcium", 40.078, 2, 0.0, r"&ca|calcium|ica|kalzium"),
    ("magnesium", 24.305, 2, 0.0, r"magnesium|&mg"),
    ("phosphate", 30.974, 1, 0.0, r"phos\w*|po4|inorganic.?p"),
    ("sodium", 22.990, 1, 0.0, r"sodium|&na|natrium"),
    ("potassium", 39.098, 1, 0.0, r"potassium|&k|kalium"),
    ("chloride", 35.453, 1, 0.0, r"chloride|&cl"),
    ("bicarbonate", 61.017, 1, 0.0, r"bicarb\w*|hco3"),
    ("haemoglobin", 16114.5, 1, 0.0, r"hb|hgb|ha?emoglobin|mchc|hämoglobin"),
    ("lactate", 90.08, 1, 0.0, r"lactate|lac|laktat|lactic\w*"),
    ("albumin", 66_500.0, 1, 0.0, r"alb|albumin"),
    ("iron", 55.845, 1, 0.0, r"iron|&fe|tibc|eisen"),
    ("vitamin D", 400.64, 1, 2.5e-8, r"vit\w*.?d3?|25.?oh.?d?|calcidiol|cholecalciferol|\w*oh.?d"),
    ("vitamin B12", 1355.37, 1, 0.0, r"(?:vit\w*.?)?b12|cobalamin"),
    ("folate", 441.4, 1, 0.0, r"folate|folic\w*"),
    ("cortisol", 362.46, 1, 0.0, r"cortisol"),
    ("testosterone", 288.42, 1, 0.0, r"testost\w*"),
    ("oestradiol", 272.38, 1, 0.0, r"o?estradiol|e2"),
    ("progesterone", 314.46, 1, 0.0, r"progest\w*"),
    ("thyroxine", 776.87, 1, 0.0, r"f?t4|thyroxine|ft4"),
    ("triiodothyronine", 650.97, 1, 0.0, r"f?t3"),
    ("insulin", 5808.0, 1, 3.4848e-5, r"insulin"),
    ("homocysteine", 135.18, 1, 0.0, r"homocyst\w*|hcy"),
    ("ammonia", 17.031, 1, 0.0, r"ammonia|nh3"),
    ("copper", 63.546, 1, 0.0, r"copper|&cu"),
    ("zinc", 65.38, 1, 0.0, r"zinc|&zn"),
    ("lead", 207.2, 1, 0.0, r"(?:blood.?)?lead|&pb"),
    ("lithium", 6.94, 1, 0.0, r"lithium|&li"),
    ("digoxin", 780.94, 1, 0.0, r"digoxin"),
    ("paracetamol", 151.16, 1, 0.0, r"paracetamol|acetaminophen"),
    ("ethanol", 46.07, 1, 0.0, r"ethanol|alcohol"),
    ("NT-proBNP", 8457.0, 1, 0.0, r"nt.?pro.?bnp|probnp"),
    ("BNP", 3464.0, 1, 0.0, r"bnp"),
    ("parathyroid hormone", 9425.0, 1, 0.0, r"i?pth"),
)  # fmt: skip
_CELLS: Final = re.compile(
    r"(?<![a-z])(?:wbc|rbc|plt|platelets?|thrombo\w*|leu[ck]o\w*|erythro\w*|neutro\w*|lympho\w*|"
    r"mono\w*|eosino\w*|baso\w*|anc|alc|cd[348]\w*|pmn|granulo\w*|reti[ck]\w*|blasts?|cells?|"
    r"(?:white|red).?(?:blood.?)?cells?|neut|lymph)(?![a-z])",
    re.IGNORECASE,
)


_FIRST: Final = r"(?:^|(?<=serum )|(?<=plasma )|(?<=blood )|(?<=urine )|(?<=total )|(?<=^s ))"


@cache
def _substance_patterns() -> tuple[tuple[Substance, re.Pattern[str]], ...]:
    return tuple(
        (
            Substance(name, mass, valence, iu),
            re.compile(
                rf"(?<![a-z0-9])(?:{pattern.replace('&', _FIRST)})(?![a-z0-9])", re.IGNORECASE
            ),
        )
        for name, mass, valence, iu, pattern in _SUBSTANCES
    )


@lru_cache(maxsize=4096)
def substance_of(name: str) -> Substance | None:
    """Return what a column is called after, of the usual laboratory values, or None.

    >>> substance_of("fasting_glucose_mg_dl").mass, substance_of("BUN").mass, substance_of("Age")
    (180.156, 28.014, None)
    """
    spellings = " ".join(_camel(_TOKENS.findall(name))), " ".join(_TOKENS.findall(name))
    return next(
        (
            one
            for one, known in _substance_patterns()
            if any(known.search(spelling) for spelling in spellings)
        ),
        None,
    )


def is_cell_count(name: str) -> bool:
    """Return whether a column is called after blood cells."""
    return bool(_CELLS.search(name.replace("_", " ")))


# Conversion -------------------------------------------------------------------------------------


def convert(
    value: float,
    written: Unit,
    own: Unit,
    substance: Substance | None = None,
    *,
    difference: bool = False,
) -> float | None:
    """Return a number of one unit in another; None where these are of different kinds.

    A `difference` of temperatures has no zero point.

    >>> convert(5.0, unit_of("cm"), unit_of("mm")), convert(100.4, unit_of("°F"), unit_of("°C"))
    (50.0, 38.0)
    >>> convert(7.0, unit_of("mmol/l"), unit_of("mg/dl"), substance_of("glucose"))
    126.1092
    """
    glycated = substance is not None and substance.name == "HbA1c" and not difference
    if glycated and (found := _hba1c(value, written, own)) is not None:
        return found
    factor = _bridge(written.kind, own.kind, substance)
    if factor is None:
        return None
    if written.kind == (("K", 1),) and not difference:
        return short((value * written.factor + written.offset - own.offset) / own.factor)
    return short(value * (written.factor * factor / own.factor))


def _hba1c(value: float, written: Unit, own: Unit) -> float | None:
    """HbA1c in % (NGSP) and in mmol/mol (IFCC), which have different zero points."""
    molar = [unit.kind == _NONE and "mol" in unit.text for unit in (written, own)]
    if molar == [True, False] and own.kind == _NONE:
        percent = 0.09148 * value * (written.factor / 1e-3) + 2.152
        return short(percent * (0.01 / own.factor), 4)
    if molar == [False, True] and written.kind == _NONE:
        percent = value * written.factor / 0.01
        return short((percent - 2.152) / 0.09148 * (1e-3 / own.factor), 4)
    return None


def _bridge(written: Kind, own: Kind, substance: Substance | None) -> float | None:
    """Return what turns one kind into the other: 1 for the same, else by the substance; None for
    none.
    """
    if written == own or _is_money(written, own):
        return 1.0
    if substance is None or not substance.mass:
        return None
    left, right = dict(written), dict(own)
    change: dict[str, int] = {}
    for base in {*left, *right}:
        if power := left.get(base, 0) - right.get(base, 0):
            change[base] = power
    grams = {"g": 1.0, "mol": substance.mass, "eq": substance.mass / substance.valence}
    if substance.iu:
        grams["U"] = substance.iu
    if not set(change) <= set(grams) or sum(change.values(), 0) != 0:
        return None
    factor = 1.0
    for base, power in change.items():
        factor *= grams[base] ** power
    return factor


def _is_money(written: Kind, own: Kind) -> bool:
    """Return whether both are money: a currency, and thousands of what is not said."""
    bases = [kind[0][0] for kind in (written, own) if len(kind) == 1 and kind[0][1] == 1]
    return len(bases) == 2 and "money" in bases and all(base.startswith("money") for base in bases)


def short(value: float, digits: int = 12) -> float:
    """Return the number without what rounding added to it."""
    return float(f"{value:.{digits}g}")


_USUAL: Final = (
    "mm cm m km in ft", "mg g kg lb oz st", "°C °F K", "mmHg kPa cmH2O mbar",
    "mg/dl g/l mg/l µg/l ng/ml g/dl µg/dl mmol/l µmol/l nmol/l pmol/l", "mmol/l mEq/l",
    "10^9/l /µl 10^12/l /l", "U/l µkat/l mU/l",
    "s min h days weeks months years ms", "l ml dl", "km/h m/s mph", "kg/m2", "mg/kg µg/kg g/kg",
    "ml/min l/min l/h", "% ‰", "/min Hz", "kcal kJ J", "mg/mmol mg/g",
)  # fmt: skip


def others_of_kind(unit: Unit, substance: Substance | None) -> Iterator[Unit]:
    """Yield the usual units in which a number of this unit could be kept."""
    seen: set[tuple[float, Kind]] = {(unit.factor, unit.kind)}
    for group in _USUAL:
        for text in group.split():
            other = unit_of(text)
            if other is None or (other.factor, other.kind) in seen:
                continue
            if _bridge(unit.kind, other.kind, substance) is not None:
                seen.add((other.factor, other.kind))
                yield other


def unit_text(unit: Unit) -> str:
    """Return the unit as it is usually written, however a name spells it."""
    if unit.kind == (("K", 1),):
        return {273.15: "°C", 0.0: "K"}.get(unit.offset, "°F")
    if unit.kind == _NONE and "/" not in unit.text:
        return {0.01: "%", 1.0: ""}.get(unit.factor, unit.text)
    return unit.text


def kind_name(unit: Unit) -> str:
    """Return what units of this kind measure, in a word."""
    return _KIND_NAMES.get(unit.kind, "")


_KIND_NAMES: Final[dict[Kind, str]] = {
    _LENGTH: "a length", _MASS: "a mass", _TIME: "a time", _VOLUME: "a volume",
    _PRESSURE: "a pressure", _RATE: "a rate", (("K", 1),): "a temperature",
    (("g", 1), ("m", -3)): "a mass per volume", (("m", -3), ("mol", 1)): "an amount per volume",
    (("m", -3),): "a count per volume", (("U", 1), ("m", -3)): "an activity per volume",
    (("m", 1), ("s", -1)): "a speed", _NONE: "a share", (("m", 2),): "an area",
    (("g", 1), ("m", -2)): "a mass per area",
}  # fmt: skip
