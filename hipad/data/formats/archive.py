"""ZIP archives, which workbooks and NumPy archives are: what is in them, before it is unpacked."""

from __future__ import annotations

import io
import zipfile

from hipad.data.limits import Limits
from hipad.errors import DataError


def check_archive(data: bytes, limits: Limits) -> list[str]:
    """Names of a ZIP archive's members, after a look at how large they become."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except zipfile.BadZipFile as error:
        raise DataError(f"the file is damaged ({error}): save it again") from error
    unpacked = sum(member.file_size for member in members)
    if unpacked > limits.unpacked_bytes:
        raise DataError(
            f"expected at most {limits.unpacked_bytes:,} bytes once unpacked, got {unpacked:,}"
        )
    return [member.filename for member in members]
