from __future__ import annotations

import pytest

from tests.limits import read_limited, run_limited


def test_what_is_printed_comes_back():
    assert run_limited("import sys; print(sys.argv[1])", "hello") == "hello\n"


def test_too_much_memory_or_time_fails():
    with pytest.raises(AssertionError, match="expected at most"):
        run_limited("b'x' * 2**30", gigabytes=0.5)
    with pytest.raises(AssertionError, match="MemoryError"):
        run_limited("bytes(2**32)", gigabytes=0.5)
    with pytest.raises(AssertionError, match="ended with -"):
        run_limited("while True: pass", seconds=1)


def test_a_file_ends_as_a_table_or_a_sentence(tmp_path):
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text("a,b\n1,2\n3,4\n")
    bad.write_text("hello\n")
    assert read_limited(good) == "table 2 2"
    assert "one column only" in read_limited(bad)
