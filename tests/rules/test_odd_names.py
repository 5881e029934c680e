from __future__ import annotations

from hipad.rules.names import odd_by_beginning


def test_names_with_signs_or_blanks_are_kept_by_their_beginning():
    found = odd_by_beginning(["IL-6", "IL-10 (serum)", "blood pressure", "plain", "12", "and"])
    assert sorted(found) == ["blood", "il"]
    assert found["il"].names == {"il-6", "il-10 (serum)"}
    assert found["il"].lengths == [13, 4]
    assert "plain" not in found
    assert "12" not in found
