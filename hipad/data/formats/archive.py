"""ZIP archives, which workbooks and NumPy archives are: what is in them, before it is unpacked.

Python unpacks no more of a member than its header claims, so the claims bound the real size.
"""

from __future__ import annotations

import io
import zipfile
from typing import Final

from hipad.data.limits import Limits
from hipad.errors import DataError
from hipad.wording import some

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
    unpacked = sum(member.file_size for member in members)
    if unpacked > limits.unpacked_bytes:
        raise DataError(
            f"expected at most {limits.unpacked_bytes:,} bytes once unpacked, got {unpacked:,}"
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
