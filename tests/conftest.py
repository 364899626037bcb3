"""What tests of several folders need."""

import pytest

from componentvec.tree import _registry


@pytest.fixture
def registrations(monkeypatch):
    """The table of registered classes; whatever a test does to it is undone."""
    table = dict(_registry._classes)
    monkeypatch.setattr(_registry, "_classes", table)
    return table
