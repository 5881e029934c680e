from __future__ import annotations

from tests.data.gene_files import CLASSES, GENES_TSV, PLATFORM, SERIES, tenx_zip


def test_a_file_of_genes_is_turned_with_a_question(app):
    app.upload("genes.tsv", GENES_TSV)
    assert app.state.data is None
    assert "one row per gene" in app.text()
    assert next(t for t in app.at.toggle if t.key.startswith("pending_turn")).value
    app.click("pending_use")
    assert app.state.data.label == "class"
    assert app.state.data.n_features == 30
    assert set(app.state.data.called(0)) <= {f"GSM{i}" for i in range(12)}
    assert len(app.state.data.blocks["ABL1"]) == 3


def test_the_turn_can_be_refused(app):
    app.upload("genes.tsv", GENES_TSV)
    toggle = next(t for t in app.at.toggle if t.key.startswith("pending_turn"))
    toggle.set_value(False)
    app.run()
    assert app.state.pending.table.number_names[0] == "GSM0"
    next(t for t in app.at.toggle if t.key.startswith("pending_turn")).set_value(True)
    app.run()
    assert app.state.pending.table.ids[0] == "GSM0"
    assert app.state.pending.table.label == "class"


def test_a_series_matrix_is_used_at_once_and_gets_symbols(app):
    app.upload("GSE1_series_matrix.txt", SERIES)
    assert app.state.data.label == "disease"
    app.upload("GPL.annot", PLATFORM, prefix="symbols_")
    assert len(app.state.data.blocks["ABL1"]) == 3
    assert app.state.loaded.table.symbols[0] == "ABL1"


def test_counts_without_classes_ask_for_them(app):
    app.upload("filtered.zip", tenx_zip())
    assert app.state.data is None
    assert app.at.button(key="pending_use").disabled
    app.upload("bad.csv", b"a,b\n1,2\n", prefix="label_")
    assert "patients' IDs" in app.at.error[0].value
    app.upload("classes.csv", CLASSES, prefix="label_")
    assert not app.at.error
    app.click("pending_use")
    assert app.state.data.classes == ("ALL", "AML")


def test_a_file_can_be_removed(app):
    app.upload("GSE1_series_matrix.txt", SERIES)
    assert "GSE1" in app.text()
    app.click("upload_remove")
    assert app.state.data is None
    app.upload("GSE1_series_matrix.txt", SERIES)
    assert app.state.data is not None


def test_an_error_stands_where_the_file_was_dropped(app):
    app.load("pima")
    app.upload("bad.gct", b"#1.2\n3\n")
    assert len(app.at.error) == 1
    assert "from before are unchanged" in app.at.error[0].value
    assert app.state.error == ""
    app.click("dismiss_upload_table")
    assert not app.at.error
