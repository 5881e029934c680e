from hipad.experiments.tasks import ProgressEstimate


def test_fits_that_were_found_tell_nothing_of_the_pace():
    pace = ProgressEstimate(10)
    pace.add(again=True)
    assert pace.seconds_left is None
    assert str(pace) == "1 of 10 fits"


def test_the_rest_is_estimated_from_those_that_were_made():
    pace = ProgressEstimate(10)
    pace.begun -= 20
    for _ in range(2):
        pace.add(again=False)
    assert 75 < pace.seconds_left < 90
    assert "left" in str(pace)
    assert pace.share == 0.2
