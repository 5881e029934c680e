from __future__ import annotations

import gzip
import io

import numpy as np
import pytest

CSV = b"a,b,kind,outcome\n" + b"".join(
    b"%d,%d,%s,%s\n" % (i, i * i % 7, b"xy"[i % 2 : i % 2 + 1], (b"sick", b"well")[i % 3 == 0])
    for i in range(40)
)


def pickled_npz() -> bytes:
    file = io.BytesIO()
    np.savez(file, X=np.array([[{}], [{}]], dtype=object), y=np.array(["a", "b"]))
    return file.getvalue()


BAD_FILES = {
    "empty": b"",
    "header only": b"a,b,label\n",
    "ragged": b"a,b,label\n1,2,x\n3,4,y,5\n6,7,x\n",
    "one class": b"a,b,label\n1,2,x\n2,3,x\n3,4,x\n",
    "forty classes": b"a,label\n" + b"".join(b"%d,c%d\n" % (i, i % 40) for i in range(120)),
    "binary": bytes(range(256)) * 20,
    "broken gzip": gzip.compress(CSV, mtime=0)[:-20],
    "gzip bomb": gzip.compress(bytes(2**20), mtime=0) * 1_100,
    "pickled": pickled_npz(),
    "only gaps": b"a,b,label\n,,x\n,,y\n,,x\n",
}


def test_first_visit_says_what_to_do(app):
    assert "Write what you know" in " ".join(part.value for part in app.at.subheader)
    assert "each with its rules" in app.text()
    assert app.state.data is None
    assert {button.label for button in app.at.button} >= {"Load", "Load and run"}


@pytest.mark.parametrize(
    ("sample", "features", "block"),
    [
        ("all-bcrabl", 12_625, "ABL1"),
        ("pima", 8, "metabolic"),
        ("ksvm-s-10k", 10_000, "K1"),
    ],
)
def test_a_sample_is_loaded_in_one_click(app, sample, features, block):
    app.load(sample)
    assert app.state.data.n_features == features
    assert block in app.state.data.blocks
    assert app.state.rules.text
    assert f"Features {features:,}" in app.text()


def test_the_diabetes_sample_starts_with_few_patients(app):
    app.load("pima")
    assert app.state.data.whom("train") == "16 patients"
    app.at.number_input(key=key_of(app, "number_input", "share")).set_value(25.0)
    app.run()
    assert app.state.data.whom("train") == "576 patients"


def test_a_row_can_be_called_by_another_word(app):
    app.upload("mine.csv", CSV)
    assert f"{len(app.state.data.y_train)} rows" in app.text()
    app.finish()
    job = app.state.job
    app.go("data")
    next(box for box in app.at.selectbox if box.label.startswith("One row is")).set_value("part")
    app.run()
    assert f"{len(app.state.data.y_train)} parts" in app.text()
    assert app.state.preparation.row_word == "part"
    assert app.state.job is job
    assert app.state.request().made(app.state.model)


def test_fifty_thousand_columns_send_nothing_large(app):
    app.load("ksvm-s-50k")
    assert app.state.data.n_features == 50_000
    for page in ("data", "rules", "workbench"):
        assert app.go(page).largest_element() < 2**20, page
    assert app.finish().largest_element() < 2**20


def test_size_seed_and_noise_of_a_synthetic_sample(app):
    for name, value in (("n_train", 30), ("n_features", 500), ("seed", 3)):
        app.at.number_input(key=f"ksvm-s-50k_{name}").set_value(value)
    app.at.slider(key="ksvm-s-50k_noise").set_value((20, 20))
    app.click("sample_ksvm-s-50k")
    assert app.state.data.X_train.shape[0] == 30
    assert dict(app.state.loaded.recipe)["noise"] == (0.2, 0.2)
    assert dict(app.state.loaded.recipe)["seed"] == 3


def test_an_impossible_sample_is_refused_in_a_sentence(app):
    app.load("pima")
    app.at.number_input(key="ksvm-s-10k_block_size").set_value(5_000)
    app.click("sample_ksvm-s-10k")
    assert "four blocks" in app.at.error[0].value
    assert app.state.data.name == "pima"


def test_an_upload_is_prepared_and_accounted_for(app):
    app.upload("mine.csv", CSV)
    assert app.state.data.classes == ("well", "sick")
    assert "Positive class: sick (by the usual meaning" in app.text().replace("\\", "")
    assert app.state.preparation.label == "outcome"
    assert "text columns encoded" in app.text()


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_bad_file_gives_a_sentence_and_leaves_all_as_it_was(app, kind):
    app.load("pima")
    before = app.state.data
    app.upload("bad.dat", BAD_FILES[kind])
    assert len(app.at.error) == 1
    assert "expected" in app.at.error[0].value or "bad" in app.at.error[0].value
    assert app.state.data is before
    assert "Press **Run**" in app.go("run").text()


def test_a_label_with_many_classes_asks_for_the_positive_one(app):
    app.upload("many.csv", BAD_FILES["forty classes"])
    assert app.state.data is None
    app.at.selectbox(key="pending_positive_label").set_value("c7")
    app.click("pending_use")
    assert app.state.data.classes == ("not c7", "c7")


def test_a_pending_table_can_be_discarded(app):
    app.upload("one.csv", BAD_FILES["one class"])
    app.click("pending_discard")
    assert app.state.pending is None
    assert not app.at.error


def test_names_with_markup_are_shown_as_they_are(app):
    name = "**bold** <b>x</b> $y$ =cmd()"
    rows = "".join(f'"{i}",{i * i},{"no" if i % 2 else "yes"}\n' for i in range(20))
    app.upload("markup.csv", f'"{name}",z,label\n{rows}'.encode())
    app.at.text_input(key="feature_search").set_value("bold")
    app.run()
    assert app.state.data.index.position(name) == 0
    shown = [text for text in app.text().splitlines() if "bold" in text]
    assert all("\\*\\*bold" in text for text in shown)


def key_of(app, kind, name):
    """The key of a widget of the preparation, which carries the data's hash."""
    return next(w.key for w in getattr(app.at, kind) if w.key.startswith(f"prepare_{name}_"))


def test_each_step_can_be_undone(app):
    rows = "".join(f"{i % 5},1,{'' if i == 3 else i},{i % 2}\n" for i in range(30))
    app.upload("steps.csv", f"a,same,gap,label\n{rows}".encode())
    assert app.state.data.n_features == 2
    app.at.toggle(key=key_of(app, "toggle", "drop_constant")).set_value(False)
    app.run()
    assert app.state.data.n_features == 3
    app.at.selectbox(key=key_of(app, "selectbox", "missing")).set_value("drop rows")
    app.run()
    total = len(app.state.data.y_train) + len(app.state.data.y_test)
    assert total == 29
    app.at.selectbox(key=key_of(app, "selectbox", "missing")).set_value("median")
    app.run()
    assert len(app.state.data.y_train) + len(app.state.data.y_test) == 30


def test_a_choice_that_cannot_be_is_refused_and_nothing_changes(app):
    rows = [row + (b",kind_of_b" if n == 0 else b",1") for n, row in enumerate(CSV.splitlines())]
    app.upload("mine.csv", b"\n".join(rows))
    before = app.state.data
    app.at.selectbox(key=key_of(app, "selectbox", "label")).set_value("kind_of_b")
    app.run()
    assert "two classes" in app.at.error[0].value
    assert app.state.data is before


def test_a_second_file_to_test_on(app):
    app.upload("mine.csv", CSV)
    app.at.segmented_control(key=key_of(app, "segmented_control", "test")).set_value("file")
    app.run()
    before = app.state.data
    app.upload("other.csv", b"p,q\n1,2\n2,3\n", prefix="test_")
    assert "same columns" in app.at.error[0].value
    assert app.state.data is before
    app.upload("test.csv", CSV[:200].rsplit(b"\n", 1)[0], prefix="test_")
    assert not app.at.error
    assert app.state.preparation.test == "file"


def test_blocks_by_pattern_file_and_removal(app):
    app.load("ksvm-s-10k")
    app.at.text_input(key="block_name").set_value("mine")
    app.at.text_area(key="block_definition").set_value("x101:x150, x7?")
    app.click("FormSubmitter:block_form-Name this block")
    assert len(app.state.data.blocks["mine"]) == 60
    app.upload("blocks.txt", b"two = x1, x2\nthree = /^x999[7-9]$/\n", prefix="blocks_")
    assert len(app.state.data.blocks["three"]) == 3
    app.at.selectbox(key="block_removed").set_value("two")
    app.run().click("block_remove")
    assert "two" not in app.state.blocks


def test_a_bad_block_says_what_is_wrong(app):
    app.load("pima")
    app.at.text_input(key="block_name").set_value("sugar")
    app.at.text_area(key="block_definition").set_value("Glukose")
    app.click("FormSubmitter:block_form-Name this block")
    assert "Glucose" in app.at.error[0].value
    assert "sugar" not in app.state.blocks


def test_features_are_found_by_search(app):
    app.load("all-bcrabl")
    app.at.text_input(key="feature_search").set_value("1636_G")
    app.run()
    assert "1 feature shown of 1 found" in app.text()


def test_blocks_are_suggested_shown_and_taken(app):
    rng = np.random.default_rng(0)
    trend = rng.standard_normal((40, 2)).repeat(4, axis=1) + 0.1 * rng.standard_normal((40, 8))
    names = ",".join([*(f"g{j}" for j in range(8)), "ill"])
    rows = [",".join([*(f"{v:.3f}" for v in row), "yn"[i % 2]]) for i, row in enumerate(trend)]
    app.upload("genes.csv", "\n".join([names, *rows]).encode())
    app.click("blocks_suggest")
    assert "2 groups of features" in app.text()
    assert not app.state.blocks
    app.click("blocks_take")
    assert sorted(app.state.blocks.values()) == ["g0:g3", "g4:g7"]
    app.state.set_blocks({**app.state.blocks, "both": "g3, g4"})
    assert "Blocks that share features" in app.run().text()


def test_gene_sets_tell_which_genes_are_not_in_the_data(app):
    app.load("pima")
    app.upload("sets.gmt", b"SUGAR\tabout\tGlucose\tTP53\n", prefix="blocks_")
    assert app.state.blocks["SUGAR"] == "Glucose"
    assert "1 gene of 1 set not in the data: TP53" in app.text().replace("\\", "")


def test_lines_with_notes_and_column_numbers_are_read_as_by_the_command_line(app):
    app.load("pima")
    app.upload("b.txt", b"K1 = Glucose:BMI  # a note\n", prefix="blocks_")
    app.upload("b.json", b'{"K2": [1, 5]}', prefix="blocks_")
    every = app.state.data.every
    assert [every.name(j) for j in app.state.data.kept[app.state.data.blocks["K2"]]] == [
        every.name(1),
        every.name(5),
    ]
    assert "K1" in app.state.data.blocks


def test_choosing_the_positive_class_leaves_the_test_patients(app):
    app.upload("mine.csv", CSV)
    before = [rows.tolist() for rows in app.state.data.patients]
    box = next(each for each in app.at.selectbox if each.label == "Which class is positive?")
    assert box.value == "sick"
    box.set_value("well").run()
    assert app.state.data.classes == ("sick", "well")
    assert [rows.tolist() for rows in app.state.data.patients] == before
    assert "Positive class: well (as chosen)" in app.text().replace("\\", "")
