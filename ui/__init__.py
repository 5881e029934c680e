"""The app's own code: what its pages share, and in one folder per page what they are made of.

A session   `state` holds it, `settings` are those of a run, `session/` saves and reopens it
Data        `dataset` (tables and what is made of them), `fields` (what is allowed)
Work        `jobs` run in threads, `models` are what they fit, `exports` what a user takes away
On a page   `sidebar`, `charts`, `colours`, `words`, `needs` (nothing to show yet), `attempts` (may
            fail), `looking` (at a job, again and again), `frame/` (what is around every page)
By page     `data/`, `rules/`, `run/`, `experiments/`, and `bench/` for the Workbench; around them
            all, `server/`

`dataset`, `exports`, `fields`, `jobs`, `models`, `settings`, `words`, in `data/` `building` and
`guessing`, and in `session/` `saving`, `refitting`, `past` and `memory`, import nothing of
streamlit.
"""
