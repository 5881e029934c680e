import pytest

from hipad.exceptions import DataError
from hipad.experiments.tasks import Done, ResultsCache, Task


def done(key: str, **more: object) -> Done:
    return Done(Task("contest", "d", 3, {"method": "HIPAD"}), key, {"accuracy": 0.75}, 1.5, **more)


def test_what_is_added_is_found_again(tmp_path):
    path = tmp_path / "deep" / "results.jsonl"
    ResultsCache(path).add(done("a"))
    again = ResultsCache(path)
    again.add(done("b"))
    assert ResultsCache(path).found == {"a": done("a"), "b": done("b")}


@pytest.mark.parametrize("torn", range(1, 60, 7))
def test_a_torn_last_line_is_cut_off_and_the_rest_is_kept(tmp_path, torn):
    path = tmp_path / "results.jsonl"
    ledger = ResultsCache(path)
    ledger.add(done("a"))
    ledger.add(done("b"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-torn])
    again = ResultsCache(path)
    assert set(again.found) == {"a"}
    again.add(done("b"))
    assert path.read_bytes() == whole


def test_a_failed_fit_is_tried_again(tmp_path):
    ledger = ResultsCache(tmp_path / "results.jsonl")
    ledger.add(done("a", error="ValueError: no"))
    assert "a" not in ledger
    ledger.add(done("a"))
    assert "a" in ResultsCache(tmp_path / "results.jsonl")


def test_another_file_is_not_touched(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("my notes\n")
    with pytest.raises(DataError, match="not a results file"):
        ResultsCache(path)
    assert path.read_text() == "my notes\n"
    with pytest.raises(DataError, match="expected a results file"):
        ResultsCache(tmp_path)


def test_a_line_that_is_no_fit_is_passed_over(tmp_path):
    path = tmp_path / "results.jsonl"
    ResultsCache(path).add(done("a"))
    with path.open("a") as file:
        file.write('[1, 2]\nnonsense\n{"key": "b"}\n')
    assert set(ResultsCache(path).found) == {"a"}


def test_without_a_path_it_remembers():
    ledger = ResultsCache()
    ledger.add(done("a"))
    assert "a" in ledger
    assert ledger["a"] == done("a")
