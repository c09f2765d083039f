"""The examples for JAX do what they say, on a small scale; the page's code runs."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
import jax_cases  # noqa: E402, F401  (float64)
from files import ROOT, run_code_of  # noqa: E402

import dtau  # noqa: E402

pytestmark = pytest.mark.examples


def example(name: str) -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "examples"))
        return importlib.import_module(name)


def test_a_policy_is_learnt(tmp_path: Path) -> None:
    policy = example("jax_policy")
    model = dtau.robots.quadruped()
    said: list[str] = []
    parameters, losses = policy.learn(model, 40, robots=4, say=said.append)
    assert len(said) == 10
    assert np.mean(losses[-10:]) < 0.9 * np.mean(losses[:10])
    falls = jax.jit(jax.vmap(lambda p, q: policy.fall(model, p, q), in_axes=(None, 0)))
    starts = policy.tilted(8, seed=10**6)
    before, after = falls(policy.network(seed=0), starts), falls(parameters, starts)
    assert np.median(after.tilt[:, -1]) < 0.9 * np.median(before.tilt[:, -1])
    pytest.importorskip("matplotlib")
    policy.plot(before, after, losses, tmp_path / "policy.png")
    assert (tmp_path / "policy.png").stat().st_size > 1000


def test_arms_are_identified() -> None:
    identification = example("jax_identification")
    model = identification.arm()
    truth, reference, angles = identification.recordings(model, 2, seed=0)
    found, errors, history = identification.identify(model, reference, angles, iterations=6)
    assert history[0] > 50
    assert history[-1] < 1.1
    assert np.mean(np.abs(found - truth) < 3 * errors) > 0.9
    assert isinstance(found, jnp.ndarray)


def test_the_page_runs() -> None:
    assert run_code_of("docs/array_libraries.md")["slopes"].shape == (2, 4, 18)
