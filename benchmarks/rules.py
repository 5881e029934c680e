"""The rule engine at size: 100 rules on 50,000 named features.

Times are given in passes over X (one product X't of the same run): over ksvm-s-50k as it is, 9 %
dense, and over a full matrix of the same shape.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.reporting import Options, best_of, progress, table, timed, verdict
from hipad.datasets import make_ksvm_s
from hipad.designs import Design, make_design
from hipad.rules import Box, FeatureIndex, check_rules, compile_rules, parse_rules

N_RULES, BLOCK_SIZE = 100, 50
MISTYPED = ("GENE_0123A", "gene_40000", "GNEE_00077", "block_7x", "GENE00100", "Glucose")


@dataclass(frozen=True)
class Setting:
    """Named features, blocks of them, rule text, and the data for the box."""

    names: list[str]
    blocks: dict[str, np.ndarray]
    text: str
    X: object


def make_setting(n_features: int, n_rules: int) -> Setting:
    """Rules of all forms: block means, conjunctions, sums, counts and bounds on both sides."""
    rng = np.random.default_rng(0)
    names = [f"GENE_{j:05d}" for j in range(n_features)]
    blocks = {
        f"block_{k}": np.arange(k * BLOCK_SIZE, (k + 1) * BLOCK_SIZE)
        for k in range(min(n_rules, n_features // BLOCK_SIZE))
    }
    data = make_ksvm_s("50k", seed=0, n_features=n_features, n_test=2)
    lines = [rule_text(i, len(blocks), n_features, rng) for i in range(n_rules)]
    return Setting(names, blocks, "\n".join(lines), data.X_train)


def rule_text(i: int, n_blocks: int, n_features: int, rng: np.random.Generator) -> str:
    """The i-th rule."""
    a, b, c = (f"GENE_{j:05d}" for j in rng.choice(n_features, 3, replace=False))
    block, limit = f"block_{i % n_blocks}", rng.uniform(0.5, 2.5)
    outcome = ("positive", "negative")[i % 2]
    premise = (
        f"mean({block}) >= {limit:.2f}",
        f"{a} >= {limit:.2f} and {b} <= {-limit / 2:.2f}",
        f"0.5*{a} + 2*{b} - sum({block}) between {limit:.2f} and {limit + 3:.2f}",
        f"sum({a}, {b}, {c}) >= {limit:.2f} and mean({block}) <= 1",
        f"{-limit:.2f} <= mean({block}) <= {limit / 4:.2f} and {c} >= 0.1",
    )[i % 5]
    return f"rule_{i}: {premise} => {outcome} worth {5 + i % 20} patients  # note {i}"


def run(options: Options) -> str:
    """Parse, compile, check and suggest."""
    n_features = 5_000 if options.quick else 50_000
    setting = make_setting(n_features, N_RULES)
    repeats = options.count(7, 3)
    sparse, full = (one_pass(design, repeats) for design in designs(setting))
    parse = best_of(lambda: parse_rules(setting.text), 5 * repeats)  # as often as a pass
    rules = parse_rules(setting.text)
    index = FeatureIndex(setting.names)
    progress(f"parsed {len(rules)} rules")

    def compiled():
        fresh = FeatureIndex(setting.names)
        return compile_rules(
            rules, feature_names=fresh, blocks=setting.blocks, classes=("negative", "positive")
        )

    compiling = best_of(compiled, 5 * repeats)
    box, boxing = timed(lambda: Box.observed(setting.X))
    progress("compiled")
    findings, checking = timed(lambda: check_rules(compiled(), box.lo, box.hi))
    progress(f"checked: {len(findings)} findings")
    first = timed(lambda: index.nearest(MISTYPED[0]))[1]
    each = max(best_of(lambda name=name: index.nearest(name), repeats) for name in MISTYPED)
    both = parse + compiling
    rows = [
        ["one pass over X, sparse / full", f"{1e3 * sparse:.1f} / {1e3 * full:.1f} ms", ""],
        ["parse", f"{1e3 * parse:.0f} ms", ""],
        ["compile, names indexed anew", f"{1e3 * compiling:.0f} ms", ""],
        ["parse and compile, passes over full X", "", passes(both, full)],
        ["parse and compile, passes over sparse X", "", passes(both, sparse)],
        [f"static checks, {len(findings)} findings", "", in_seconds(checking, 5.0)],
        ["box of observed values", f"{1e3 * boxing:.0f} ms", ""],
        ["suggestion for an unknown name, first", "", in_seconds(first, 0.05)],
        ["suggestion for an unknown name, slowest later", "", in_seconds(each, 0.05)],
    ]
    head = f"{N_RULES} rules on {n_features:,} features:"
    return f"{head}\n\n{table(['work', 'time', 'against its goal'], rows)}"


def designs(setting: Setting) -> tuple[Design, Design]:
    """X as it is, and a full matrix of its shape."""
    shape = setting.X.shape
    full = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
    return make_design(setting.X), make_design(full)


def one_pass(design: Design, repeats: int) -> float:
    """Seconds of one product X't."""
    t = np.ones(design.shape[0])
    return best_of(lambda: design.correlate(t), 5 * repeats)


def passes(seconds: float, one: float) -> str:
    return verdict(seconds / one, 20.0, at_least=False, digits=1)


def in_seconds(seconds: float, goal: float) -> str:
    return verdict(seconds, goal, at_least=False, digits=4) + " s"
