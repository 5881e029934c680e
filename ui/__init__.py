"""What the pages of the app share: state, jobs, charts and the parts that pages are made of.

`state.py` holds the one state object of a session; `jobs.py` runs fits in threads; `charts.py`
draws every figure with the same colours and a text alternative. `dataset.py`, `blocks.py`,
`history.py`, `settings.py`, `saving.py` and `jobs.py` know nothing of streamlit.
"""
