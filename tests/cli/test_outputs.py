import pytest

from hipad.cli.outputs import check_output
from hipad.errors import DataError


def test_a_new_file_in_a_folder_is_welcome(tmp_path):
    read = tmp_path / "table.csv"
    read.write_text("a,b")
    check_output(str(tmp_path / "model.json"), [str(read), None, str(tmp_path / "not there")])


def test_a_folder_that_is_not_there_is_told_before_the_work(tmp_path):
    with pytest.raises(DataError, match="its folder is not there, make it first"):
        check_output(str(tmp_path / "none" / "model.json"), [])


@pytest.mark.parametrize("link", [False, True])
def test_what_is_read_is_not_written_by_any_name(tmp_path, link):
    read = tmp_path / "table.csv"
    read.write_text("a,b")
    other = tmp_path / "." / "link.csv" if link else tmp_path / "." / "table.csv"
    if link:
        other.symlink_to(read)
    with pytest.raises(DataError, match="this command reads it"):
        check_output(str(other), [None, str(read)])
