"""Read files of users, prepare them as numbers and two classes, and tell what was done."""

from hipad.data.export import csv_safe, to_csv
from hipad.data.file_format import FileFormat, Question, Reading
from hipad.data.gaps import Gaps
from hipad.data.genes.describing import with_labels
from hipad.data.genes.symbols import symbol_blocks, with_symbols
from hipad.data.genes.turning import Turn, facing, turn_back, turn_table
from hipad.data.limits import LIMITS, Limits
from hipad.data.moments import column_statistics
from hipad.data.preparation_options import Missing, Options, PreparationStep
from hipad.data.preparing import Prepared, prepare
from hipad.data.process.apart import Cancelled, read_apart
from hipad.data.reading import FORMATS, read_table
from hipad.data.roles import ColumnRole, Role, column_roles, guess_roles
from hipad.data.splitting import (
    Matched,
    Split,
    learning_gaps,
    learning_rows,
    match_test,
    match_unlabelled,
    split,
)
from hipad.data.summary import duplicates, summarise
from hipad.data.table import Table

__all__ = [
    "FORMATS",
    "LIMITS",
    "Cancelled",
    "ColumnRole",
    "FileFormat",
    "Gaps",
    "Limits",
    "Matched",
    "Missing",
    "Options",
    "PreparationStep",
    "Prepared",
    "Question",
    "Reading",
    "Role",
    "Split",
    "Table",
    "Turn",
    "column_roles",
    "column_statistics",
    "csv_safe",
    "duplicates",
    "facing",
    "guess_roles",
    "learning_gaps",
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
