"""Label spaces (ordered labels with stable ids, names, aliases and groups) and mappings between them."""

from affectlab.labels.catalogue import (
    available,
    available_mappings,
    load,
    load_mapping,
    read_mapping,
    read_space,
)
from affectlab.labels.mapping import Mapping
from affectlab.labels.space import Label, LabelSpace, fold

__all__ = [
    "Label",
    "LabelSpace",
    "Mapping",
    "available",
    "available_mappings",
    "fold",
    "load",
    "load_mapping",
    "read_mapping",
    "read_space",
]
