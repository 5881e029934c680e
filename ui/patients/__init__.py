"""The Patients page: each patient's answer and why, and answers for patients of another file."""
