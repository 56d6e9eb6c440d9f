"""Items: the one schema all data is brought into, readers of data files, and checks of what was read."""

from affectlab.items.item import Gold, Item

__all__ = ["Gold", "Item"]
