"""A cluster of two processes for all tests, and the examples that run on it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
from files import ROOT

import dtau


@pytest.fixture(scope="session")
def examples() -> Iterator[Any]:
    """Import an example by its name, in this process and in its clusters' processes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "examples"))
        yield importlib.import_module


@pytest.fixture(scope="session")
def client(examples: Any) -> Iterator[Any]:
    """A client of Dask on two processes."""
    pytest.importorskip("dask.distributed")
    pytest.importorskip("zarr")
    with examples("dask_cluster").cluster(None, 2, []) as client:
        yield client


@pytest.fixture(scope="session")
def actors(examples: Any) -> Iterator[Any]:
    """Two actors of Ray, each with the package's quadruped."""
    pytest.importorskip("ray")
    pytest.importorskip("zarr")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")  # it would write a token into the home folder
        sweep_ray = examples("sweep_ray")
        importlib.import_module("ray.cloudpickle").register_pickle_by_value(sweep_ray)
        with sweep_ray.cluster(None, 2):
            yield sweep_ray.sweepers(dtau.robots.quadruped())
