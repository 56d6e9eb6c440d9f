"""CAREBench's own settings (``--set NAME=VALUE``)."""

from __future__ import annotations

SETTINGS = {
    "first_person": "folder of the first-person records within a data folder (default: first_person, first_person_500)",
    "bertscore": "MODEL@LAYER: encoder (folder or hub name) for BERTScore of core answers; none unless named",
    "statements": "JSON file from dimension to the statement that was rated, for records keyed by statement",
}
