import pytest

from hipad.exceptions import DataError, HipadError, RuleError


@pytest.mark.parametrize("kind", [DataError, RuleError])
def test_errors_are_value_errors_as_scikit_learn_expects(kind):
    assert issubclass(kind, HipadError)
    with pytest.raises(ValueError, match="expected two classes"):
        raise kind("expected two classes")


def test_a_rule_error_knows_its_place_and_remedy():
    error = RuleError("no", line=2, column=5, expected=[">=", "<="], suggestion="a >= 1 => ill")
    assert (error.line, error.column, error.expected) == (2, 5, (">=", "<="))
    assert error.suggestion == "a >= 1 => ill"
    assert RuleError("no").expected == ()
