"""Data to try things on: the synthetic ksvm-s and two bundled clinical samples."""

from hipad.datasets.ksvm import SyntheticData, make_ksvm_s
from hipad.datasets.samples import SAMPLES, Sample, SampleFile, load_sample, read_sample

__all__ = [
    "SAMPLES",
    "Sample",
    "SampleFile",
    "SyntheticData",
    "load_sample",
    "make_ksvm_s",
    "read_sample",
]
