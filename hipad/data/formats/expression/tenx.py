"""A folder of 10x Genomics as one archive: a matrix of counts, its features and its barcodes.

The archive is a .zip, a .tar or a .tar.gz; its members may be packed with gzip each. Only the three
members are looked at, where they lie in memory: nothing is written to disk, so that no path in the
archive can lead anywhere.
"""

from __future__ import annotations

import csv
import io
import tarfile
import zipfile
from collections.abc import Mapping
from typing import Final

from hipad.data.formats.archive import MOST_MEMBERS, unpacked
from hipad.data.formats.expression.matrix_market import market_matrix
from hipad.data.formats.text.lines import NEWLINE, count_letters
from hipad.data.genes.turning import GenesByPatients, patients_by_genes
from hipad.data.limits import Limits
from hipad.data.table import Table
from hipad.errors import DataError
from hipad.wording import some

MATRIX: Final = ("matrix.mtx",)
FEATURES: Final = ("features.tsv", "genes.tsv")
BARCODES: Final = ("barcodes.tsv",)
TAR_MAGIC: Final = b"ustar"
MAGIC_PLACE: Final = 257

Members = Mapping[str, bytes]


def looks_like_tar(data: bytes) -> bool:
    """Whether the mark of a tar archive stands where it must."""
    return data[MAGIC_PLACE : MAGIC_PLACE + len(TAR_MAGIC)] == TAR_MAGIC


def has_matrix(names: list[str]) -> bool:
    """Whether an archive with these members may be a folder of 10x."""
    return any(_called(name, MATRIX) for name in names)


def _called(path: str, names: tuple[str, ...]) -> bool:
    """Whether a member has one of these names, packed or not, perhaps with words before it."""
    own = path.rsplit("/", 1)[-1].removesuffix(".gz")
    return not own.startswith("._") and own.endswith(names)


def _is_used(path: str) -> bool:
    return _called(path, MATRIX + FEATURES + BARCODES)


def read_zipped_folder(data: bytes, limits: Limits) -> Table:
    """From a .zip whose members were looked at before."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist() if _is_used(name)}
    except Exception as error:  # zipfile lets errors of many kinds through
        raise DataError(f"the archive is damaged ({error}): pack it again") from error
    return _read_folder(members, limits)


def read_tar_folder(data: bytes, limits: Limits) -> Table:
    """From a .tar, of which plain files are read only."""
    members: dict[str, bytes] = {}
    seen = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                seen += 1
                if seen > MOST_MEMBERS:
                    raise DataError(f"expected at most {MOST_MEMBERS:,} members, got more")
                if not member.isreg() or member.issparse() or not _is_used(member.name):
                    continue
                if member.size > len(data):
                    raise DataError("the archive is damaged (a member is cut): pack it again")
                file = archive.extractfile(member)
                members[member.name] = b"" if file is None else file.read()
    except DataError:
        raise
    except Exception as error:  # tarfile lets errors of many kinds through
        raise DataError(f"the archive is damaged ({error}): pack it again") from error
    if not members:
        raise DataError(
            "expected matrix.mtx, features.tsv and barcodes.tsv in the archive, got none of them: "
            "unpack it and give the file in it"
        )
    return _read_folder(members, limits)


def _read_folder(members: Members, limits: Limits) -> Table:
    counts = market_matrix(_member(members, MATRIX, limits), limits)
    features = _rows(_member(members, FEATURES, limits), limits)
    barcodes = [row[0] for row in _rows(_member(members, BARCODES, limits), limits)]
    if counts.shape != (len(features), len(barcodes)):
        raise DataError(
            f"expected a matrix of {len(features):,} features x {len(barcodes):,} barcodes, as the "
            f"files beside it list, got {counts.shape[0]:,} x {counts.shape[1]:,}"
        )
    symbols = [row[1] if len(row) > 1 else "" for row in features]
    names = [row[0] for row in features]
    given = GenesByPatients(
        names, counts, barcodes, "10x folder", [] if symbols == names else symbols
    )
    return patients_by_genes(given, limits)


def _member(members: Members, names: tuple[str, ...], limits: Limits) -> bytes:
    found = [path for path in members if _called(path, names)]
    if len(found) != 1:
        raise DataError(
            f"expected one {' or '.join(names)} in the 10x folder, got "
            f"{some(found) if found else 'none'}: pack the files of one sample"
        )
    return unpacked(members[found[0]], limits)


def _rows(data: bytes, limits: Limits) -> list[list[str]]:
    limits.check_shape(1, count_letters(data, NEWLINE))
    text = data.decode("utf-8", "replace").replace("\0", " ")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    try:
        return [row for row in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE) if row]
    except csv.Error as error:
        raise DataError(f"the lists in the 10x folder are damaged ({error})") from error
