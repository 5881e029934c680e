"""Packed files: what is in a ZIP archive, before it is unpacked, and what gzip packed.

Python unpacks no more of a member than its header claims, so the claims bound the real size.
"""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from typing import Final

from hipad.data.limits import Limits
from hipad.errors import DataError
from hipad.wording import some

PIECE_BYTES: Final = 2**20
MOST_MEMBERS: Final = 10_000
ENTRY: Final = b"PK\x01\x02"  # begins each line of the archive's list of members
METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others unpack without a bound
ENCRYPTED: Final = 1


def check_archive(data: bytes, limits: Limits) -> list[str]:
    """Names of a ZIP archive's members, after a look at how large they become."""
    if data.count(ENTRY) > MOST_MEMBERS:
        raise DataError(f"expected at most {MOST_MEMBERS:,} members in the archive, got more")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except Exception as error:  # zipfile lets errors of many kinds through
        raise DataError(f"the file is damaged ({error}): save it again") from error
    size = sum(member.file_size for member in members)
    if size > limits.unpacked_bytes:
        raise DataError(
            f"expected at most {limits.unpacked_bytes:,} bytes once unpacked, got {size:,}"
        )
    for member in members:
        if member.compress_type not in METHODS or member.flag_bits & ENCRYPTED:
            raise DataError(
                f"expected plain ZIP members, got {some([member.filename])} packed in another way "
                "or with a password: save it again"
            )
    names = [member.filename for member in members]
    if len(set(names)) < len(names):
        raise DataError("the file is damaged (two members share a name): save it again")
    return names


def unpacked(data: bytes, limits: Limits) -> bytes:
    """The bytes themselves, or what gzip packed into them, as long as it is not too much."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    content = io.BytesIO()  # gives its content away without a copy
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            while piece := file.read(PIECE_BYTES):
                content.write(piece)
                if content.tell() > limits.unpacked_bytes:
                    raise DataError(
                        f"expected at most {limits.unpacked_bytes:,} bytes once unpacked, got more"
                    )
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"the gzip file is damaged ({error}): pack it again") from error
    if not content.tell():
        raise DataError("expected a table, got an empty file")
    return content.getvalue()
