"""PLINK genotypes (.bed, .bim, .fam): two bits a genotype, read a block of variants at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import csv

from hipad.data.column_store import Block, ColumnSource, FileBytes
from hipad.exceptions import DataError, unopened

# --------------------------------------------------------------------------------------------------
# A byte holds four genotypes, the first in its lowest bits. Counted are copies of allele 1 (the
# fifth column of the .bim file): 00 has two, 10 one, 11 none, and 01 is missing. A table turns a
# byte into its four counts.


MAGIC: Final = bytes([0x6C, 0x1B])
BY_VARIANT: Final = 1
HEAD: Final = 3
MISSING: Final = -127
CODES: Final = np.array([2, MISSING, 1, 0], dtype=np.int8)
_BYTES = np.arange(256)[:, None] >> np.array([0, 2, 4, 6])
TABLE: Final = np.ascontiguousarray(CODES[_BYTES & 3]).view(np.uint32).ravel()
LINES_AT_ONCE: Final = 1 << 24  # bytes of a .bim file
CASES: Final = {"1": 0.0, "2": 1.0}  # phenotypes of a .fam file


def decoded(packed: npt.NDArray[np.uint8], n_rows: int) -> npt.NDArray[np.int8]:
    """Return the counts in packed genotypes, one row a variant; -127 where one is missing.

    >>> decoded(np.array([[0b11100100]], dtype=np.uint8), 4).tolist()
    [[2, -127, 1, 0]]
    """
    four = TABLE.take(packed)
    return four.view(np.int8).reshape(len(packed), -1)[:, :n_rows]


class BedSource(ColumnSource):
    """The genotypes of a .bed file, which has its .bim and .fam files beside it.

    Labels are the phenotypes of the .fam file where it has both cases (2) and controls (1); rows
    are called by its second column, and variants by the second column of the .bim file.
    """

    missing = MISSING

    def __init__(self, path: str | Path) -> None:
        self.path, self.dtype = Path(path), np.dtype(np.int8)
        people = self._people()
        self.row_names = np.array([one[1] for one in people])
        self.labels = _labels([one[5] if len(one) > 5 else "" for one in people])
        self.shape = (len(people), _count_lines(self.path.with_suffix(".bim")))
        self._bytes = FileBytes(self.path)
        self._check()

    @property
    def bytes_per_column(self) -> int:
        return -(-self.shape[0] // 4)

    def block(self, start: int, stop: int) -> Block:
        each = self.bytes_per_column
        packed = np.frombuffer(
            self._bytes.read(HEAD + start * each, (stop - start) * each), dtype=np.uint8
        )
        return decoded(packed.reshape(stop - start, each), self.shape[0])

    @property
    def has_names(self) -> bool:
        return True

    def name_blocks(self) -> Iterator[npt.NDArray[np.bytes_]]:
        variants = self.path.with_suffix(".bim")
        with variants.open("rb") as file:
            tabs = b"\t" in file.readline()
        try:
            with csv.open_csv(
                variants,
                read_options=csv.ReadOptions(
                    column_names=["chromosome", "name", *"abcd"], block_size=LINES_AT_ONCE
                ),
                parse_options=csv.ParseOptions(
                    delimiter="\t" if tabs else " ", quote_char=False, ignore_empty_lines=True
                ),
                convert_options=csv.ConvertOptions(
                    include_columns=["name"], column_types={"name": pa.string()}
                ),
            ) as batches:
                for batch in batches:
                    texts = batch.column(0).to_numpy(zero_copy_only=False)
                    yield np.char.encode(texts.astype(str), "utf-8")
        except pa.ArrowInvalid as error:
            raise DataError(
                f"{variants} cannot be read: expected six columns a line, set apart by one tab "
                f"or blank ({str(error).splitlines()[0]})"
            ) from None

    def _people(self) -> list[list[str]]:
        path = self.path.with_suffix(".fam")
        try:
            lines = path.read_text("utf-8", errors="replace").splitlines()
        except (OSError, ValueError) as error:
            raise unopened(path, error) from None
        people = [line.split() for line in lines if line.strip()]
        short = next((at for at, one in enumerate(people) if len(one) < 2), None)
        if short is not None or not people:
            where = "no line" if short is None else f"line {short + 1}"
            raise DataError(f"expected six columns a line in {path}, got {where} with fewer")
        return people

    def _check(self) -> None:
        """Refuse a file of another form, or of another number of people or variants."""
        head = bytes(self._bytes.read(0, min(HEAD, self._bytes.size)))
        if head[:2] != MAGIC or len(head) < HEAD:
            raise DataError(f"{self.path} is no PLINK 1 .bed file: it begins with other bytes")
        if head[2] != BY_VARIANT:
            raise DataError(
                f"expected {self.path} variant by variant, got it sample by sample: write it anew "
                "with PLINK 1.9 or 2 (--make-bed)"
            )
        (n, m), size = self.shape, self._bytes.size
        expected = HEAD + m * self.bytes_per_column
        if size != expected:
            what = "the file is cut" if size < expected else "it is of other people or variants"
            raise DataError(
                f"expected {expected:,} bytes in {self.path} ({n:,} people in .fam, {m:,} variants "
                f"in .bim), got {size:,}: {what}; copy all three files again"
            )


def _count_lines(path: Path) -> int:
    """The lines of a file that are not empty at its end."""
    count, last = 0, b"\n"
    try:
        with path.open("rb") as file:
            while part := file.read(LINES_AT_ONCE):
                count, last = count + part.count(b"\n"), part[-1:]
    except (OSError, ValueError) as error:
        raise unopened(path, error) from None
    return count + (last != b"\n")


def _labels(phenotypes: list[str]) -> npt.NDArray[Any] | None:
    known = np.array([CASES.get(one, np.nan) for one in phenotypes])
    return known if np.unique(known[np.isfinite(known)]).size == 2 else None
