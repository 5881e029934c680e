from hipad.experiments.learning_curve import curve_tasks, curves, worth_of_rules
from hipad.experiments.perturbed_rules import sweep, sweep_tasks, threshold_versions
from hipad.experiments.report import curve_section, figure_section, paper_section, sweep_section
from hipad.experiments.reproduction import TABLE1, FewRows, figure_tasks, table_lines, table_tasks
from hipad.experiments.tasks import Done, ResultsCache
from hipad.experiments.workers import perform
from tests.experiments.small import table


def made(tasks, **figures) -> list[Done]:
    return [Done(task, str(k), figures) for k, task in enumerate(tasks)]


def test_what_was_not_reached_is_said():
    entries = TABLE1[5:8]
    found = made(table_tasks(entries), accuracy=0.5, support=10)
    section = paper_section("Table 1", table_lines(entries, found))
    told = " ".join(section.sentences)
    assert "Not reached: gisette-like: 50.0 %" in told
    assert "gisette-like for gisette" in told
    assert "Iman and Davenport" in told
    assert len(section.rows) == 9


def test_the_figure_tells_its_sweeps():
    (done,) = perform(figure_tasks(), {"figure 1": FewRows()}, ResultsCache())
    section = figure_section(done)
    assert f"after {done.figures['settled']} sweeps" in section.sentences[0]
    assert "<svg" in section.picture


def test_a_curve_ends_with_what_the_rules_are_worth():
    found = made(curve_tasks(table(), draws=3, sizes=(4, 8)), balanced=0.7)
    section = curve_section("Curves", curves(found), worth_of_rules(found))
    assert section.rows[0][0] == "8"
    assert section.head[1] == "with rules"
    assert "worth about 0" in section.sentences[0]


def test_a_sweep_says_whether_it_harms():
    versions = threshold_versions(table().rules, 0, [1, 2])
    found = made(sweep_tasks(table(), versions, draws=3), balanced=0.7, support=4)
    section = sweep_section("What if", "threshold", sweep(found, versions))
    assert section.sentences == ["No version harms beyond chance."]
    assert [row[0] for row in section.rows] == ["1", "2"]


def test_a_curve_that_is_not_done_has_gaps():
    found = made(curve_tasks(table(), draws=1, sizes=(4, 8)), balanced=0.7)
    section = curve_section("Curves", curves(found[:5]), None)
    assert [row[0] for row in section.rows] == ["8", "16"]
    assert section.rows[1] == ["16", "70.0", "-", "-", "-"]
