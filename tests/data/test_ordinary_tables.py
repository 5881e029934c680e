"""Ordinary odd tables, as Excel, SPSS, REDCap, R, pandas and instruments write them.

Each is read by the real reader. What is expected of it is its meaning: names, numbers, texts. Where
the content leaves the meaning open, a question is expected too, for an ordinary file is never read
with another meaning in silence.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import openpyxl
import pytest

from hipad.data import FileFormat, read_table

NAN = float("nan")
GAP = ""


@dataclass(frozen=True)
class Odd:
    """A file, what it means, and what must be asked or told."""

    content: str | bytes
    numbers: dict[str, list[float]] = field(default_factory=dict)
    text: dict[str, list[str]] = field(default_factory=dict)
    asked: tuple[str, ...] = ()  # keys of questions, or their beginnings
    told: tuple[str, ...] = ()  # words of remarks
    found: dict[str, Any] = field(default_factory=dict)

    @property
    def data(self) -> bytes:
        return self.content if isinstance(self.content, bytes) else self.content.encode()


def xlsx(*rows: list[Any]) -> bytes:
    book, file = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(file)
    return file.getvalue()


def many(line: str, n: int) -> str:
    """Lines with a number in place of {i}."""
    return "".join(line.format(i=i) + "\n" for i in range(n))


TABLES: dict[str, Odd] = {
    # separators and marks of programs
    "excel's sep line": Odd(
        "sep=;\nage;crp\n31;1,5\n40;2,25\n",
        {"age": [31, 40], "crp": [1.5, 2.25]},
        found={"separator": ";", "decimal": ",", "header_row": 2},
    ),
    "excel's sep line with commas": Odd(
        "sep=,\r\nage,crp\r\n31,1.5\r\n40,2.25\r\n", {"age": [31, 40], "crp": [1.5, 2.25]}
    ),
    "excel's sep line with tabs": Odd(
        "sep=\t\nage\tcrp\n31\t1.5\n40\t2.25\n", {"age": [31, 40], "crp": [1.5, 2.25]}
    ),
    "german excel": Odd(
        "Alter;Größe;Gruppe\r\n31;1,82;ja\r\n40;1,65;nein\r\n".encode("cp1252"),
        {"Alter": [31, 40], "Größe": [1.82, 1.65]},
        {"Gruppe": ["ja", "nein"]},
        asked=("encoding",),
        found={"encoding": "cp1252"},
    ),
    "dos letters": Odd(
        "Alter;Größe;Prüfer\r\n31;1,82;Müller\r\n40;1,65;Jäger\r\n".encode("cp850"),
        {"Alter": [31, 40], "Größe": [1.82, 1.65]},
        {"Prüfer": ["Müller", "Jäger"]},
        asked=("encoding",),
        found={"encoding": "cp850"},
    ),
    "mac letters": Odd(
        "Alter;Größe;Prüfer\r31;1,82;Müller\r40;1,65;Jäger\r".encode("mac_roman"),
        {"Alter": [31, 40], "Größe": [1.82, 1.65]},
        {"Prüfer": ["Müller", "Jäger"]},
        asked=("encoding",),
        found={"encoding": "mac_roman"},
    ),
    "utf-8 with a mark": Odd(
        "âge;taille\n31;1,82\n40;1,65\n".encode("utf-8-sig"),
        {"âge": [31, 40], "taille": [1.82, 1.65]},
    ),
    "utf-16 of excel": Odd(
        "âge\ttaille\n31\t1,82\n40\t1,65\n".encode("utf-16"),
        {"âge": [31, 40], "taille": [1.82, 1.65]},
        found={"encoding": "utf-16"},
    ),
    "utf-16 without a mark": Odd(
        "age\tsize\n31\t1.82\n40\t1.65\n".encode("utf-16-le"),
        {"age": [31, 40], "size": [1.82, 1.65]},
    ),
    "mixed line ends": Odd(
        "age,crp\r\n31,1.5\n40,2.25\r\n50,3\n", {"age": [31, 40, 50], "crp": [1.5, 2.25, 3]}
    ),
    "tabs at the ends": Odd(
        "age\tcrp\t\n31\t1.5\t\n40\t2.25\t\n", {"age": [31, 40], "crp": [1.5, 2.25]}
    ),
    "commas at the ends": Odd(
        "age,crp\n31,1.5,,\n40,2.25,,\n",
        {"age": [31, 40], "crp": [1.5, 2.25]},
        told=("empty cells",),
    ),
    "bars": Odd("age|crp\n31|1.5\n40|2.25\n", {"age": [31, 40], "crp": [1.5, 2.25]}),
    "blanks in columns": Odd(
        "age   crp\n31    1.5\n40   2.25\n", {"age": [31, 40], "crp": [1.5, 2.25]}
    ),
    # decimal signs and marks between thousands
    "decimal comma after row 20": Odd(
        "age;crp;y\n" + many("{i};1;a", 70) + "70;1,5;b\n71;2,25;a\n",
        {"age": list(range(72)), "crp": [1] * 70 + [1.5, 2.25]},
        found={"decimal": ","},
    ),
    "quoted decimal comma": Odd(
        'age,crp\n31,"1,5"\n40,"2,25"\n',
        {"age": [31, 40], "crp": [1.5, 2.25]},
        found={"decimal": ","},
    ),
    "quoted numbers": Odd(
        '"age","crp"\n"31","1.5"\n"40","2"\n', {"age": [31, 40], "crp": [1.5, 2]}
    ),
    "german thousands": Odd(
        "id;cost\n1;1.234,56\n2;12.345,00\n3;99,5\n",
        {"cost": [1234.56, 12345, 99.5]},
    ),
    "german thousands without decimals beside decimal commas": Odd(
        "cost;crp\n1.234;1,5\n12.345;2,5\n999;0,5\n",
        {"cost": [1234, 12345, 999], "crp": [1.5, 2.5, 0.5]},
        told=("thousands",),
    ),
    "us thousands, quoted": Odd(
        'cost,crp\n"1,234",1.5\n"12,345",2.5\n"1,234,567",0.5\n',
        {"cost": [1234, 12345, 1234567], "crp": [1.5, 2.5, 0.5]},
        told=("thousands",),
    ),
    "us thousands with decimals": Odd(
        'cost,n\n"1,234.50",1\n"12,345.25",2\n', {"cost": [1234.5, 12345.25]}
    ),
    "french blanks": Odd(
        "cost;n\n1 234,5;1\n12 345,25;2\n7,5;3\n",
        {"cost": [1234.5, 12345.25, 7.5]},
        told=("thousands",),
    ),
    "french no-break blanks": Odd(
        "cost;n\n1\u202f234,5;1\n12\u00a0345,25;2\n7,5;3\n", {"cost": [1234.5, 12345.25, 7.5]}
    ),
    "swiss apostrophes": Odd(
        "cost;n\n1'234.5;1\n12’345.25;2\n7.5;3\n", {"cost": [1234.5, 12345.25, 7.5]}
    ),
    "commas of three digits between semicolons": Odd(
        "x;y\n1,234;a\n2,345;b\n", {"x": [1.234, 2.345]}, asked=("three_digits",)
    ),
    "points of three digits between semicolons": Odd(
        "x;y\n1.234;a\n2.345;b\n", {"x": [1.234, 2.345]}, asked=("three_digits",)
    ),
    "quoted commas of three digits": Odd(
        'x,y\n"1,234",a\n"2,345",b\n', {"x": [1234, 2345]}, asked=("three_digits",)
    ),
    "points beside commas in one column": Odd(
        "x;y\n0.5;a\n0,7;b\n0,9;a\n", {"x": [0.5, 0.7, 0.9]}, told=("decimal point",)
    ),
    "scientific": Odd("x;y\n1,5E+03;a\n2,0e-2;b\n", {"x": [1500, 0.02]}),
    "scientific with points": Odd("x,y\n1.5E+03,a\n2e-2,b\n", {"x": [1500, 0.02]}),
    "unicode minus": Odd("x,n\n−1.5,1\n2.5,2\n–3,3\n", {"x": [-1.5, 2.5, -3]}),
    "percent": Odd("x,n\n12%,1\n7.5 %,2\n", {"x": [12, 7.5]}, told=("percent",)),
    "percent with decimal commas": Odd(
        "x;n\n12,5%;1\n7,5%;2\n", {"x": [12.5, 7.5]}, told=("percent",)
    ),
    "percent beside shares": Odd(
        "x,n\n12%,1\n0.2,2\n15%,3\n", {"x": [12, 0.2, 15]}, asked=("percent:x",)
    ),
    "units in the cells": Odd(
        "crp,n\n5.2 mg/l,1\n7 mg/l,2\n", {"crp": [5.2, 7]}, told=("units (mg/l)",)
    ),
    "different units": Odd(
        "crp,n\n5.2 mg/l,1\n7 mg/dl,2\n",
        text={"crp": ["5.2 mg/l", "7 mg/dl"]},
        asked=("units:crp",),
    ),
    "money": Odd("cost,n\n$5.20,1\n$7,2\n", {"cost": [5.2, 7]}, told=("units",)),
    "limits": Odd(
        "crp,n\n<5,1\n7,2\n>100,3\n9,4\n", {"crp": [5, 7, 100, 9]}, told=("limit of detection",)
    ),
    "limits with decimal commas": Odd(
        "crp;n\n<0,5;1\n7,5;2\n≥1,5;3\n9,25;4\n", {"crp": [0.5, 7.5, 1.5, 9.25]}
    ),
    "excel's covered texts": Odd('x,n\n="1.5",1\n="2.5",2\n', {"x": [1.5, 2.5]}),
    "codes with zeros": Odd(
        "zip,n\n01067,1\n10115,2\n", text={"zip": ["01067", "10115"]}, asked=("codes:zip",)
    ),
    # rows around the table
    "title": Odd(
        "Study of CRP, 2020\nage,crp\n31,1.5\n40,2.25\n",
        {"age": [31, 40], "crp": [1.5, 2.25]},
        told=("above the table",),
        found={"header_row": 2},
    ),
    "titles of excel": Odd(
        "Klinik Wien;;\nStand: 1.3.2020;;\n;;\nAlter;CRP;Status\n31;1,5;ja\n40;2,25;nein\n",
        {"Alter": [31, 40], "CRP": [1.5, 2.25]},
        {"Status": ["ja", "nein"]},
        found={"header_row": 4},
    ),
    "keys and values above": Odd(
        "Operator\tMiller\nDate\t2020-01-05\nChannels\t3\n\ntime\tv1\tv2\n0\t1.5\t2.5\n1\t1.6\t2.6\n2\t1.7\t2.7\n",
        {"time": [0, 1, 2], "v1": [1.5, 1.6, 1.7], "v2": [2.5, 2.6, 2.7]},
    ),
    "comments above": Odd(
        "# made by a program\n# version 2, really\nage,crp\n31,1.5\n40,2.25\n",
        {"age": [31, 40], "crp": [1.5, 2.25]},
    ),
    "commented header": Odd(
        "#age\tcrp\n31\t1.5\n40\t2.25\n", {"age": [31, 40], "crp": [1.5, 2.25]}
    ),
    "comments between": Odd(
        "age,crp\n31,1.5\n# here the device was changed\n40,2.25\n",
        {"age": [31, 40], "crp": [1.5, 2.25]},
        told=("began with #",),
    ),
    "units below the header": Odd(
        "age,crp,kind\nyears,mg/l,\n31,1.5,a\n40,2.25,b\n",
        {"age": [31, 40], "crp": [1.5, 2.25]},
        {"kind": ["a", "b"]},
        told=("units",),
    ),
    "units in brackets": Odd(
        "age;crp\n[years];[mg/l]\n31;1,5\n40;2,25\n",
        {"age": [31, 40], "crp": [1.5, 2.25]},
        told=("units",),
    ),
    "two header rows of groups": Odd(
        "id;before;;after;\n;crp;bmi;crp;bmi\n1;1,5;20;2,5;21\n2;1,6;22;2,6;23\n",
        {
            "before crp": [1.5, 1.6],
            "before bmi": [20, 22],
            "after crp": [2.5, 2.6],
            "after bmi": [21, 23],
        },
        asked=("groups",),
    ),
    "a second row of long names": Odd(
        "age,crp\nAge of the patient,C-reactive protein\n31,1.5\n40,2.25\n50,3\n",
        {"age": [31, 40, 50], "crp": [1.5, 2.25, 3]},
        asked=("second header",),
    ),
    "sum at the end": Odd(
        "name;n;cost\nA;1;1,5\nB;2;2,5\nSumme;3;4\n",
        {"n": [1, 2], "cost": [1.5, 2.5]},
        asked=("footer",),
    ),
    "mean and deviation at the end": Odd(
        "id,age,crp\nP1,31,1.5\nP2,40,2.5\nMean,35.5,2\nSD,6.4,0.7\n",
        {"age": [31, 40], "crp": [1.5, 2.5]},
        asked=("footer",),
    ),
    "source at the end": Odd(
        "name,n,cost\nA,1,1.5\nB,2,2.5\n\nSource: our hospital\n",
        {"n": [1, 2], "cost": [1.5, 2.5]},
        told=("at the end",),
    ),
    "blank rows within": Odd(
        "age;crp\n31;1,5\n;\n\n40;2,25\n", {"age": [31, 40], "crp": [1.5, 2.25]}
    ),
    "no header": Odd("31,1.5,a\n40,2.25,b\n50,3,a\n", {"x0": [31, 40, 50], "x1": [1.5, 2.25, 3]}),
    # columns of programs
    "row names of r": Odd(
        'age crp\n"1" 31 1.5\n"2" 40 2.25\n',
        {"age": [31, 40], "crp": [1.5, 2.25]},
        {"row": ["1", "2"]},
    ),
    "row names of r's csv": Odd(
        '"","age","crp"\n"1",31,1.5\n"2",40,2.25\n',
        {"age": [31, 40], "crp": [1.5, 2.25]},
        {"row": ["1", "2"]},
    ),
    "index of pandas": Odd(
        ",age,crp\n0,31,1.5\n1,40,2.25\n",
        {"age": [31, 40], "crp": [1.5, 2.25]},
        {"row": ["0", "1"]},
    ),
    "index of pandas saved twice": Odd(
        "Unnamed: 0,age,crp\n0,31,1.5\n1,40,2.25\n",
        {"age": [31, 40], "crp": [1.5, 2.25]},
        {"Unnamed: 0": ["0", "1"]},
    ),
    "equal names": Odd(
        "crp,crp\n1.5,2\n2.5,3\n", {"crp": [1.5, 2.5], "crp.2": [2, 3]}, told=("not unique",)
    ),
    "empty columns": Odd(
        "age,,crp,\n31,,1.5,\n40,,2.25,\n",
        {"age": [31, 40], "crp": [1.5, 2.25]},
        told=("without a",),
    ),
    "an empty column with a name": Odd(
        "age,x,crp\n31,,1.5\n40,,2.25\n", {"age": [31, 40], "x": [NAN, NAN]}
    ),
    "line breaks in quotes": Odd(
        'age,"crp\n(mg/l)",note\n31,1.5,"a\nb"\n40,2.25,c\n',
        {"age": [31, 40], "crp (mg/l)": [1.5, 2.25]},
        {"note": ["a\nb", "c"]},
    ),
    "truth": Odd("ok,n\nTRUE,1\nFALSE,2\nTRUE,3\n", text={"ok": ["TRUE", "FALSE", "TRUE"]}),
    "yes and no": Odd("ok;n\noui;1\nnon;2\noui;3\n", text={"ok": ["oui", "non", "oui"]}),
    "levels in other capitals": Odd(
        "ok,n\nYes,1\nyes,2\nno,3\n", text={"ok": ["Yes", "yes", "no"]}, asked=("alike:ok",)
    ),
    "dates": Odd("day;n\n01.02.2020;1\n15.03.2020;2\n", text={"day": ["01.02.2020", "15.03.2020"]}),
    "iso dates": Odd(
        "day,n\n2020-02-01,1\n2020-03-15,2\n", text={"day": ["2020-02-01", "2020-03-15"]}
    ),
    # gaps
    "k.A. in numbers and texts": Odd(
        "crp;sex\n1,5;m\nk.A.;k.A.\n2,5;w\n",
        {"crp": [1.5, NAN, 2.5]},
        {"sex": ["m", GAP, "w"]},
        found={"gap_words": ("k.A.",)},
    ),
    "n.a. and n/a": Odd(
        "crp,sex\n1.5,n.a.\nn/a,m\n2.5,w\n", {"crp": [1.5, NAN, 2.5]}, {"sex": [GAP, "m", "w"]}
    ),
    "half of a column is missing": Odd(
        "crp,n\nNA,1\nN/A,2\n.,3\n1.5,4\n?,5\n", {"crp": [NAN, NAN, NAN, 1.5, NAN]}
    ),
    "errors of excel": Odd("crp;n\n#NV;1\n1,5;2\n#DIV/0!;3\n", {"crp": [NAN, 1.5, NAN]}),
    "unknown in texts": Odd(
        "sex,n\nm,1\nunknown,2\nf,3\nm,4\n",
        text={"sex": ["m", "unknown", "f", "m"]},
        asked=("level:sex:unknown",),
    ),
    "none in texts": Odd(
        "drug,n\nnone,1\naspirin,2\nnone,3\n",
        text={"drug": ["none", "aspirin", "none"]},
        asked=("level:drug:none",),
    ),
    "a word among many numbers": Odd(
        "crp,n\n" + many("{i}.5,1", 30) + "offen,2\n",
        {"crp": [i + 0.5 for i in range(30)] + [NAN]},
        told=("'offen'",),
    ),
    "a word among few numbers": Odd(
        "crp,n\n1.5,1\n2.5,2\noffen,3\n3.5,4\n",
        text={"crp": ["1.5", "2.5", "offen", "3.5"]},
        asked=("nearly:crp",),
    ),
    "999 among ages": Odd(
        "age,n\n31,1\n40,2\n999,3\n52,4\n61,5\n",
        {"age": [31, 40, 999, 52, 61]},
        asked=("code:age",),
    ),
    "-9 on a scale": Odd(
        "pain,n\n0,1\n3,2\n-9,3\n5,4\n7,5\n", {"pain": [0, 3, -9, 5, 7]}, asked=("code:pain",)
    ),
    "9 on a scale of spss": Odd(
        "q1,n\n1,1\n2,2\n9,3\n3,4\n4,5\n1,6\n", {"q1": [1, 2, 9, 3, 4, 1]}, asked=("code:q1",)
    ),
    "9 beside 0 and 1": Odd("x,y\n1.5,0\n2.5,1\n3.5,9\n", {"y": [0, 1, 9]}, asked=("code:y",)),
    "codes with zeros after many rows": Odd(
        "zip,n\n" + many("1000{i},1", 9) * 9 + "01067,1\n",
        text={"zip": [f"1000{i}" for i in range(9)] * 9 + ["01067"]},
        asked=("codes:zip",),
    ),
    "the header again": Odd(
        "a,b,y\n1,2,x\n3,4,z\na,b,y\n5,6,x\n",
        {"a": [1, 3, 5]},
        {"y": ["x", "z", "x"]},
        told=("again left out",),
    ),
    "numbers in single quotes": Odd("a,b\n'1.5','x'\n'2.5','y'\n", {"a": [1.5, 2.5]}),
    "a sum without a word": Odd(
        "id;n;m\n1;5;2\n2;6;3\n;11;5\n", {"n": [5, 6], "m": [2, 3]}, asked=("footer",)
    ),
    "a sum in the second column": Odd(
        "id,name,n\n1,A,5\n2,B,6\n,Total,12\n", {"n": [5, 6]}, asked=("footer",)
    ),
    "an instrument's long head": Odd(
        "LabVIEW Measurement\t\nWriter_Version\t2\nSeparator\tTab\nDecimal_Separator\t,\n"
        "***End_of_Header***\t\n\t\nChannels\t2\nSamples\t3\t3\nX_Value\tU\tI\tComment\n"
        "0,000\t1,5\t2,5\t\n1,000\t1,6\t2,6\t\n2,000\t1,7\t2,7\t\n3,000\t1,75\t2,65\t\n",
        {"X_Value": [0, 1, 2, 3], "U": [1.5, 1.6, 1.7, 1.75], "I": [2.5, 2.6, 2.7, 2.65]},
        told=("above the table",),
    ),
    # exports of laboratories, clinics and banks
    "laboratory with title, units, limits and a date below": Odd(
        "Labor Nord;;;\nBefunde 01/2020;;;\n;;;\nPatient;CRP;Hb;Befund\n;mg/l;g/dl;\n"
        "P01;1,5;13,2;pos\nP02;<0,5;12,9;neg\nP03;7,25;11,0;pos\n;;;\nErstellt am 01.02.2020;;;\n",
        {"CRP": [1.5, 0.5, 7.25], "Hb": [13.2, 12.9, 11]},
        {"Patient": ["P01", "P02", "P03"], "Befund": ["pos", "neg", "pos"]},
        told=("above the table", "units", "at the end", "limit of detection"),
        found={"header_row": 4},
    ),
    "bank in utf-16 with codes and quoted thousands": Odd(
        'Konto;Saldo;Ausfall\r\n0012;"1.234,50";nein\r\n0047;"-2.000,00";ja\r\n'
        '0113;"15,75";nein\r\n'.encode("utf-16"),
        {"Saldo": [1234.5, -2000, 15.75]},
        {"Konto": ["0012", "0047", "0113"], "Ausfall": ["nein", "ja", "nein"]},
        asked=("codes:Konto",),
    ),
    "minus signs behind the numbers": Odd(
        "id;balance;default\nA1;1.234,50-;yes\nA2;200,00;no\nA3;15,00-;yes\n",
        {"balance": [-1234.5, 200, -15]},
        told=("below zero",),
    ),
    "brackets for below zero": Odd(
        'id,balance,default\nA1,"(1,234.50)",yes\nA2,200.00,no\nA3,(15.00),yes\n',
        {"balance": [-1234.5, 200, -15]},
        told=("below zero",),
    ),
    "a currency behind": Odd(
        "id;balance\nA1;1.234,50 EUR\nA2;200,00 EUR\nA3;15,00 EUR\n",
        {"balance": [1234.5, 200, 15]},
        told=("units (EUR)",),
    ),
    "merged patients in a workbook": Odd(
        xlsx(
            ["patient", "visit", "crp"],
            ["P1", 1, 1.5],
            [None, 2, 2.5],
            ["P2", 1, 0.5],
            [None, 2, 0.75],
        ),
        {"visit": [1, 2, 1, 2]},
        {"patient": ["P1", GAP, "P2", GAP]},
        asked=("merged:patient",),
    ),
    "merged numbers of patients": Odd(
        "patient;crp;status\n1;1,5;ill\n;2,5;ill\n;2,0;ill\n2;0,5;well\n;0,75;well\n",
        {"patient": [1, NAN, NAN, 2, NAN]},
        asked=("merged:patient",),
    ),
    "an outcome of yes, no and unknown": Odd(
        "id,crp,relapse\nP1,1.5,yes\nP2,2.5,no\nP3,0.5,unknown\nP4,1.0,yes\n",
        text={"relapse": ["yes", "no", "unknown", "yes"]},
        asked=("level:relapse:unknown",),
    ),
    "dates in three styles": Odd(
        "id,seen,crp\nP1,2020-02-01,1.5\nP2,15.03.2020,2.5\nP3,3/4/2020,3.5\n",
        text={"seen": ["2020-02-01", "15.03.2020", "3/4/2020"]},
    ),
    "dates with names of months": Odd(
        "id,born,crp\nP1,1-Feb-60,1.5\nP2,15-Mar-71,2.5\n",
        text={"born": ["1-Feb-60", "15-Mar-71"]},
    ),
    "dates of a workbook": Odd(
        xlsx(
            ["id", "born", "crp"],
            ["P1", datetime(1960, 2, 1), 1.5],
            ["P2", datetime(1971, 3, 15), 2.5],
        ),
        {"crp": [1.5, 2.5]},
        {"born": ["1960-02-01T00:00:00", "1971-03-15T00:00:00"]},
    ),
    "two header rows of visits in a workbook": Odd(
        xlsx(
            ["Patient", "CRP", "CRP", "Hb"],
            [None, "day 1", "day 2", "day 1"],
            ["P1", 1.5, 2.5, 13],
            ["P2", 2.0, 2.25, 12],
        ),
        {"CRP": [1.5, 2], "CRP.2": [2.5, 2.25], "Hb": [13, 12]},
        asked=("second header",),
        told=("not unique",),
    ),
    "many empty columns and rows at the end": Odd(
        "id;age;crp;;;;\nP1;31;1,5;;;;\nP2;40;2,25;;;;\n;;;;;;\n;;;;;;\n",
        {"age": [31, 40], "crp": [1.5, 2.25]},
        told=("without a value",),
    ),
    "a mark, a sep line and quotes": Odd(
        '\ufeffsep=;\r\n"id";"alter";"crp"\r\n"P1";"31";"1,5"\r\n"P2";"40";"2,25"\r\n',
        {"alter": [31, 40], "crp": [1.5, 2.25]},
    ),
    "numbers with a star": Odd(
        "id,crp,hb\nP1,1.5*,13\nP2,2.5,12\nP3,7.5*,11\nP4,2,10\n",
        text={"crp": ["1.5*", "2.5", "7.5*", "2"]},
        asked=("nearly:crp",),
    ),
    "negative beside cycles": Odd(
        "id,pcr,age\nP1,neg,31\nP2,neg,40\nP3,25.3,50\nP4,31.2,51\n",
        text={"pcr": ["neg", "neg", "25.3", "31.2"]},
        asked=("nearly:pcr",),
    ),
    "not detected beside titres": Odd(
        "id,titre,age\nP1,n.d.,31\nP2,160,40\nP3,n.d.,50\nP4,320,51\n",
        text={"titre": ["n.d.", "160", "n.d.", "320"]},
        asked=("nearly:titre",),
    ),
    "blood pressure, ranges and plus signs": Odd(
        "id,bp,age,dip\nP1,120/80,60-69,+\nP2,135/90,70-79,++\nP3,110/70,50-59,-\n",
        text={
            "bp": ["120/80", "135/90", "110/70"],
            "age": ["60-69", "70-79", "50-59"],
            "dip": ["+", "++", "-"],
        },
        asked=("several:bp",),
    ),
    "pages at the end": Odd(
        "id;age;crp\nP1;31;1,5\nP2;40;2,25\nP3;50;3,5\nSeite 1 von 1;;\n",
        {"age": [31, 40, 50]},
        told=("at the end",),
    ),
    "dashes for gaps": Odd(
        "id;crp;hb\nP1;-;13,1\nP2;1,5;--\nP3;2,5;12\n",
        {"crp": [NAN, 1.5, 2.5], "hb": [13.1, NAN, 12]},
    ),
    "a cell too narrow for its number": Odd(
        "id,cost\nP1,100\nP2,########\nP3,300\n",
        text={"cost": ["100", "########", "300"]},
        asked=("nearly:cost",),
    ),
    # further tables of hospitals, registries, surveys and other countries
    "special missing values of sas": Odd(
        "SUBJID,AVAL,SEX\n1,2.5,M\n2,.A,F\n3,.,M\n4,.M,F\n5,5,M\n",
        {"AVAL": [2.5, NAN, NAN, NAN, 5]},
    ),
    "dollars, thousands and brackets of sas": Odd(
        'id,COST\n1,"$1,234.50"\n2,$987.00\n3,($45.10)\n4,"-$12,000.00"\n',
        {"COST": [1234.5, 987, -45.1, -12000]},
        told=("units ($)", "below zero"),
    ),
    "codes 98 and 99 on a scale": Odd(
        "nr;pain\n" + many("{i};{i}", 11) + "11;98\n12;99\n13;98\n",
        {"pain": [*range(11), 98, 99, 98]},
        asked=("code:pain",),
    ),
    "codes -9 and -8": Odd(
        "q1,n\n-9,1\n0,2\n1,3\n2,4\n-8,5\n3,6\n",
        {"q1": [-9, 0, 1, 2, -8, 3]},
        asked=("code:q1",),
    ),
    "a rare -1 beside 0 and 1": Odd(
        "n,smoker\n" + many("{i},1\n{i},0", 6) + "20,-1\n",
        {"smoker": [1, 0] * 6 + [-1]},
        asked=("code:smoker",),
    ),
    "signs of change are no codes": Odd(
        "n,change\n" + many("{i},1\n{i},0\n{i},-1", 6), {"change": [1, 0, -1] * 6}
    ),
    "zeros of a glucose that nobody measured": Odd(
        "Glucose,n\n" + many("9{i},{i}", 9) + "0,9\n0,10\n",
        {"Glucose": [90, 91, 92, 93, 94, 95, 96, 97, 98, 0, 0]},
        asked=("code:Glucose",),
    ),
    "zeros that are measured": Odd(
        "nodes,n\n" + many("9{i},{i}", 9) + "0,9\n0,10\n",
        {"nodes": [90, 91, 92, 93, 94, 95, 96, 97, 98, 0, 0]},
    ),
    "thousands of india": Odd(
        'id,income\n1,"1,20,000"\n2,"85,000"\n3,"12,50,000.50"\n',
        {"income": [120000, 85000, 1250000.5]},
        told=("thousands",),
    ),
    "digits of full width": Odd(
        "id,age,crp\n1,３１,１．５\n2,４０,２．２５\n", {"age": [31, 40], "crp": [1.5, 2.25]}
    ),
    "digits of arabic and persian": Odd(
        "id,age,crp\n1,٣١,١٫٥\n2,۴۰,٢٫٢٥\n", {"age": [31, 40], "crp": [1.5, 2.25]}
    ),
    "powers behind the numbers": Odd(
        "id,plt\n1,150 x10^3\n2,240 x10^3\n", {"plt": [150, 240]}, told=("units (x10^3)",)
    ),
    "powers behind some numbers": Odd(
        "id,plt\n1,150 x10^3\n2,240000\n",
        text={"plt": ["150 x10^3", "240000"]},
        asked=("units:plt",),
    ),
    "apostrophes before numbers": Odd("id,crp\n1,'1.5\n2,'2.5\n", {"crp": [1.5, 2.5]}),
    "means with deviations": Odd(
        "id,crp\n1,5.1 ± 0.2\n2,7.0 ± 0.3\n3,8.2 ± 0.1\n",
        text={"crp": ["5.1 ± 0.2", "7.0 ± 0.3", "8.2 ± 0.1"]},
        asked=("several:crp",),
    ),
    "positive of examined nodes": Odd(
        "id,nodes\n1,3/12\n2,0/10\n3,1/20\n4,5/9\n",
        text={"nodes": ["3/12", "0/10", "1/20", "5/9"]},
        asked=("several:nodes",),
    ),
    "a range that became a date": Odd(
        "id,band\n1,05. Sep\n2,10-14\n3,15-19\n",
        text={"band": ["05. Sep", "10-14", "15-19"]},
        asked=("dated:band",),
    ),
    "yes in three languages": Odd(
        "id,smoker\n1,yes\n2,no\n3,ja\n4,nein\n5,Y\n",
        text={"smoker": ["yes", "no", "ja", "nein", "Y"]},
        asked=("alike:smoker",),
    ),
    "a total in spanish": Odd(
        "nombre;n;coste\nA;1;1,5\nB;2;2,5\nTotal general;3;4\n", {"n": [1, 2]}, asked=("footer",)
    ),
    "a total of a pivot table": Odd(
        "Station;n;Kosten\nA;1;1,5\nB;2;2,5\nGesamtergebnis;3;4\n",
        {"n": [1, 2]},
        asked=("footer",),
    ),
    "a total in polish": Odd(
        "oddział;n;koszt\nA;1;1,5\nB;2;2,5\nRazem;3;4\n", {"n": [1, 2]}, asked=("footer",)
    ),
    "a total in russian, of windows": Odd(
        "отделение;больных;цена\nхирургия;1;1,5\nтерапия;2;2,5\nИтого;3;4\n".encode("cp1251"),
        {"больных": [1, 2]},
        {"отделение": ["хирургия", "терапия"]},
        asked=("encoding", "footer"),
        found={"encoding": "cp1251"},
    ),
    "japanese letters of windows": Odd(
        "患者番号,年齢,転帰\n1,41,死亡\n2,42,生存\n".encode("cp932"),
        {"年齢": [41, 42]},
        {"転帰": ["死亡", "生存"]},
        asked=("encoding",),
        found={"encoding": "cp932"},
    ),
    "chinese letters": Odd(
        "病人编号,年龄,结局\n1,41,死亡\n2,42,存活\n".encode("gb18030"),
        {"年龄": [41, 42]},
        {"结局": ["死亡", "存活"]},
        asked=("encoding",),
        found={"encoding": "gb18030"},
    ),
    "laboratory values with flags": Odd(
        "id,crp,hb\n1,1.5 H,13\n2,2.25,12\n3,120 HH,11\n4,3,10\n5,4,9\n",
        text={"crp": ["1.5 H", "2.25", "120 HH", "3", "4"]},
        asked=("nearly:crp",),
    ),
    "redcap with checkboxes and events": Odd(
        "record_id,redcap_event_name,age,comorb___1,labs_complete,relapse\n"
        "1,baseline_arm_1,41,1,2,1\n1,followup_arm_1,,,0,\n2,baseline_arm_1,42,0,2,0\n",
        {"age": [41, NAN, 42], "comorb___1": [1, NAN, 0], "relapse": [1, NAN, 0]},
        {"redcap_event_name": ["baseline_arm_1", "followup_arm_1", "baseline_arm_1"]},
    ),
    "units in a column of their own": Odd(
        "id,value,unit\n1,5.2,mmol/l\n2,94,mg/dl\n3,5.9,mmol/l\n4,101,mg/dl\n",
        {"value": [5.2, 94, 5.9, 101]},
        asked=("unit column:unit",),
    ),
    "a row for each measurement": Odd(
        "patient,test,value\n1,CRP,1.5\n1,Hb,13\n2,CRP,2.5\n2,Hb,12\n",
        {"value": [1.5, 13, 2.5, 12]},
        asked=("long:test",),
    ),
    # workbooks
    "workbook with a title and units": Odd(
        xlsx(
            ["Study"],
            [],
            ["age", "crp", "kind"],
            ["years", "mg/l", None],
            [31, 1.5, "a"],
            [40, 2.25, "b"],
        ),
        {"age": [31, 40], "crp": [1.5, 2.25]},
        {"kind": ["a", "b"]},
        told=("above the table", "units"),
    ),
    "workbook with texts for numbers": Odd(
        xlsx(["age", "crp"], [31, "1,5"], [40, "2,25"]), {"age": [31, 40], "crp": [1.5, 2.25]}
    ),
    "workbook with a sum": Odd(
        xlsx(["name", "n"], ["A", 1], ["B", 2], ["Total", 3]), {"n": [1, 2]}, asked=("footer",)
    ),
    "workbook with an index": Odd(
        xlsx([None, "age", "crp"], [0, 31, 1.5], [1, 40, 2.25]),
        {"age": [31, 40], "crp": [1.5, 2.25]},
        {"row": ["0", "1"]},
    ),
}


def asked_of(table: Any) -> list[str]:
    return [question.key for question in table.reading.questions]


@pytest.mark.parametrize("name", TABLES)
def test_read_table_ordinary(name: str) -> None:
    odd = TABLES[name]
    table = read_table(odd.data, "mine")
    for column, values in odd.numbers.items():
        assert column in table.number_names, (table.names, table.remarks)
        np.testing.assert_allclose(table.column(column), values, rtol=1e-12)
    for column, cells in odd.text.items():
        assert column in table.text, table.names
        assert table.text[column].tolist() == cells
    for key in odd.asked:
        assert any(each.startswith(key) for each in asked_of(table)), asked_of(table)
    if not odd.asked:
        assert asked_of(table) == []
    said = " ".join(table.remarks)
    for words in odd.told:
        assert words in said, table.remarks
    for field_name, value in odd.found.items():
        assert getattr(table.reading.found, field_name) == value


def test_there_are_many_tables() -> None:
    assert len(TABLES) >= 90


@pytest.mark.parametrize("name", [name for name, odd in TABLES.items() if odd.asked])
def test_read_table_questions_can_be_answered(name: str) -> None:
    """Every answer reads the file in another way; and what was accepted is not asked again."""
    data = TABLES[name].data
    table = read_table(data)
    for question in table.reading.questions:
        for answer in question.answers:
            stated = FileFormat().with_change(answer.change)
            other = read_table(data, stated=stated)
            assert question.key not in asked_of(other) or stated.separator, (question, answer)
            assert meaning(other) != meaning(table)
        accepted = FileFormat().with_change({"accepted": (question.key,)})
        again = read_table(data, stated=accepted)
        assert question not in again.reading.open_questions
        assert meaning(again) == meaning(table)


def meaning(table: Any) -> str:
    """Everything that a table says, as one text."""
    text = {name: cells.tolist() for name, cells in table.text.items()}
    return repr((table.number_names, table.numbers.tolist(), text))


def test_read_table_same_meaning_for_same_input() -> None:
    for odd in TABLES.values():
        first, second = read_table(odd.data), read_table(odd.data)
        assert meaning(first) == meaning(second)
        assert first.reading == second.reading
