"""Small files of genes in the usual formats, made from their public descriptions."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Mapping
from typing import Any

import h5py
import numpy as np
import scipy.io
import scipy.sparse as sp

PROBES = [f"{1000 + i}_at" for i in range(30)]
SYMBOLS = ["ABL1"] * 3 + ["JAK1 /// JAK2"] * 2 + ["---"] + [f"GEN{i}" for i in range(24)]
SAMPLES = [f"GSM{i}" for i in range(12)]
KINDS = ["ALL", "AML"] * 6
VALUES = np.round(np.random.default_rng(0).normal(8, 2, (30, 12)), 3)
COUNTS = np.where(VALUES > 8, np.round(VALUES), 0)


def _lines(first: list[list[str]], values: np.ndarray = VALUES, sep: str = "\t") -> str:
    rows = [sep.join([*cells, *map(str, row)]) for cells, row in zip(first, values, strict=True)]
    return "\n".join(rows) + "\n"


GENES_TSV = (
    "\t".join(["probe", "symbol", *SAMPLES])
    + "\n"
    + "\t".join(["class", "", *KINDS])
    + "\n"
    + _lines([[p, s] for p, s in zip(PROBES, SYMBOLS, strict=True)])
).encode()

SERIES = (
    '!Series_title\t"Leukaemia"\n!Series_geo_accession\t"GSE1"\n\n'
    + "!Sample_title\t" + "\t".join(f'"patient {i}"' for i in range(12)) + "\n"
    + "!Sample_geo_accession\t" + "\t".join(f'"{s}"' for s in SAMPLES) + "\n"
    + "!Sample_characteristics_ch1\t" + "\t".join(f'"disease: {k}"' for k in KINDS) + "\n"
    + "!Sample_characteristics_ch1\t"
    + "\t".join(f'"{"age: 7" if i % 2 else "gender: F"}"' for i in range(12)) + "\n"
    + "!series_matrix_table_begin\n"
    + "\t".join(['"ID_REF"', *(f'"{s}"' for s in SAMPLES)]) + "\n"
    + _lines([[f'"{p}"'] for p in PROBES])
    + "!series_matrix_table_end\n"
).encode()  # fmt: skip

PLATFORM = (
    "^Annotation\n!Annotation_date = Nov 2026\n#ID = probe\n!platform_table_begin\n"
    "ID\tGene title\tGene symbol\n"
    + "".join(f"{p}\ta gene\t{s}\n" for p, s in zip(PROBES, SYMBOLS, strict=True))
    + "!platform_table_end\n"
).encode()

GCT = (
    "#1.2\n30\t12\n"
    + "\t".join(["Name", "Description", *SAMPLES])
    + "\n"
    + _lines([[p, s] for p, s in zip(PROBES, SYMBOLS, strict=True)])
).encode()

GCT3 = (
    "#1.3\n30\t12\t2\t1\n"
    + "\t".join(["id", "pr_gene_symbol", "chromosome", *SAMPLES]) + "\n"
    + "\t".join(["disease", "na", "na", *KINDS]) + "\n"
    + _lines([[p, s, "9"] for p, s in zip(PROBES, SYMBOLS, strict=True)])
).encode()  # fmt: skip

CLASSES = ("barcode,disease\n" + "".join(
    f"{s},{k}\n" for s, k in zip(reversed(SAMPLES), reversed(KINDS), strict=True)
)).encode()  # fmt: skip


def mtx(matrix: np.ndarray = COUNTS) -> bytes:
    """Matrix Market text."""
    file = io.BytesIO()
    scipy.io.mmwrite(file, sp.coo_array(matrix))
    return file.getvalue()


def tenx_members(folder: str = "filtered/") -> dict[str, bytes]:
    """The three files of a 10x folder, packed as Cell Ranger packs them."""
    features = "".join(f"{p}\t{s}\tGene Expression\n" for p, s in zip(PROBES, SYMBOLS, strict=True))
    plain = {
        "matrix.mtx": mtx(),
        "features.tsv": features.encode(),
        "barcodes.tsv": "".join(f"{s}\n" for s in SAMPLES).encode(),
    }
    return {f"{folder}{name}.gz": gzip.compress(c, mtime=0) for name, c in plain.items()}


def tenx_zip(members: Mapping[str, bytes] | None = None) -> bytes:
    """A 10x folder as .zip."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in (members or tenx_members()).items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return file.getvalue()


def tenx_tar(members: Mapping[str, bytes] | None = None, mode: str = "w:gz") -> bytes:
    """A 10x folder as .tar.gz."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in (members or tenx_members()).items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


def h5ad(kind: str = "csr", **changes: Any) -> bytes:
    """An AnnData file; `changes` are parts to put in place of the usual ones, None to leave out."""
    file = io.BytesIO()
    with h5py.File(file, "w", track_order=False) as root:
        X = COUNTS.T
        if kind == "dense":
            root["X"] = X.astype(np.float32)
        else:
            make = sp.csr_array if kind == "csr" else sp.csc_array
            parts = make(X)
            group = root.create_group("X")
            group.attrs["encoding-type"], group.attrs["shape"] = f"{kind}_matrix", X.shape
            for name in ("data", "indices", "indptr"):
                group[name] = getattr(parts, name)
        obs, var = root.create_group("obs"), root.create_group("var")
        obs.attrs["_index"], var.attrs["_index"] = "cell", "_index"
        obs["cell"], var["_index"] = SAMPLES, PROBES
        disease = obs.create_group("disease")
        disease["codes"] = np.array([0, 1] * 6, np.int8)
        disease["categories"] = ["ALL", "AML"]
        obs["n_counts"] = COUNTS.sum(axis=0) + np.arange(12) / 7
        var["gene_symbols"] = SYMBOLS
        for name, value in changes.items():
            place = name if "/" in name else name.replace("__", "/", 2)
            if place in root:
                del root[place]
            if value is not None:
                root[place] = value
    return file.getvalue()
