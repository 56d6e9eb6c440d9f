"""Where an annotation project is kept: SQLite by default, PostgreSQL by URL, the same statements on both.

Answers, decisions and events are only ever added. Functions take an open connection; who opened it commits.
"""
