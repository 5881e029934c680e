from hipad import utils as places


def test_the_app_and_the_samples_are_found():
    assert places.APP.name == "app.py"
    assert places.APP.exists()
    assert (places.SAMPLES / "pima" / "data.csv").exists()


def test_the_app_lies_where_its_pages_and_settings_do():
    assert (places.APP.parent / "pages").is_dir()
    assert (places.APP.parent / ".streamlit" / "config.toml").exists()
