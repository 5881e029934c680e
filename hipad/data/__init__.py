"""Read files of users, prepare them as numbers and two classes, and tell what was done."""

from hipad.data.file_format import FileFormat, Question, Reading
from hipad.data.holdout import (
    Split,
    TestRows,
    learning_gaps,
    learning_groups,
    learning_rows,
    match_test,
    match_unlabelled,
    split,
)
from hipad.data.limits import LIMITS, Limits
from hipad.data.orientation import (
    Turn,
    facing,
    symbol_blocks,
    turn_back,
    turn_table,
    with_labels,
    with_symbols,
)
from hipad.data.preprocessing import (
    Missing,
    MissingValues,
    Options,
    PreparationStep,
    Prepared,
    prepare,
)
from hipad.data.reader import FORMATS, read_table
from hipad.data.roles import ColumnRole, Role, column_roles, guess_roles
from hipad.data.sandbox import Cancelled, read_apart
from hipad.data.table import Table, column_statistics, csv_safe, duplicates, summarise, to_csv

__all__ = [
    "FORMATS",
    "LIMITS",
    "Cancelled",
    "ColumnRole",
    "FileFormat",
    "Limits",
    "Missing",
    "MissingValues",
    "Options",
    "PreparationStep",
    "Prepared",
    "Question",
    "Reading",
    "Role",
    "Split",
    "Table",
    "TestRows",
    "Turn",
    "column_roles",
    "column_statistics",
    "csv_safe",
    "duplicates",
    "facing",
    "guess_roles",
    "learning_gaps",
    "learning_groups",
    "learning_rows",
    "match_test",
    "match_unlabelled",
    "prepare",
    "read_apart",
    "read_table",
    "split",
    "summarise",
    "symbol_blocks",
    "to_csv",
    "turn_back",
    "turn_table",
    "with_labels",
    "with_symbols",
]
