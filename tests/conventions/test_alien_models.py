"""Damaged models of other packages: TypeError or ValueError that names the argument."""

from __future__ import annotations

import re
from typing import Any

import alien_models
import numpy as np
import pytest
from cases import random_state, robot
from compare import assert_same_bits

import dtau

PACKAGES = ("pinocchio", "mujoco")
each_package = pytest.mark.parametrize("package", PACKAGES)


def convention_of(package: str, peer: Any) -> dtau.conventions.Convention:
    make = getattr(dtau.conventions, package)
    convention: dtau.conventions.Convention = make(robot("quadruped"), peer)
    return convention


@each_package
def test_what_can_be_read_is_enough(package: str) -> None:
    pytest.importorskip(package)
    healthy = convention_of(package, alien_models.healthy(package))
    plain = convention_of(package, alien_models.plain(package))
    state = random_state(healthy.model, 1, (3,))
    for x, y in zip(
        healthy.from_dtau(state["q"], state["v"], state["a"]),
        plain.from_dtau(state["q"], state["v"], state["a"]),
        strict=True,
    ):
        assert_same_bits(x, y)
    there = healthy.convert(state["f_ext"], of="f_ext", at={"q": state["q"]})
    assert_same_bits(plain.convert(state["f_ext"], of="f_ext", at={"q": state["q"]}), there)


@each_package
def test_damaged_models_give_a_clear_error(package: str) -> None:
    pytest.importorskip(package)
    refused, cases = 0, 1000
    for seed in range(cases):
        peer = alien_models.plain(package)
        rng = np.random.default_rng(seed)
        what = alien_models.damage(rng, peer)
        try:
            convention = convention_of(package, peer)
        except (TypeError, ValueError) as error:
            said = f"seed {seed}, {what}: {error}"
            assert re.search(rf"\b({alien_models.ARGUMENT[package]}|model)\b", str(error)), said  # noqa: PT017
            refused += 1
            continue
        except Exception as error:
            raise AssertionError(f"seed {seed}, {what}") from error
        state = random_state(convention.model, seed, (2,))
        there = convention.from_dtau(state["q"], state["v"], state["a"])
        back = convention.to_dtau(*there)
        assert [x.shape for x in back] == [state[name].shape for name in "qva"]
    assert refused > cases / 2


def test_damaged_by_mujocos_own_means() -> None:
    """The arrays of a model of MuJoCo's can be written."""
    pytest.importorskip("mujoco")
    for name, at, value in (
        ("jnt_type", 3, 99),
        ("jnt_qposadr", 2, 1000),
        ("jnt_qposadr", 2, -1),
        ("jnt_dofadr", 1, -1),
        ("jnt_dofadr", 1, 7),
        ("jnt_bodyid", 4, 1000),
        ("body_weldid", 4, 1000),
        ("body_parentid", 4, 1000),
        ("body_parentid", 4, 5),
        ("body_quat", 4, np.nan),
        ("body_pos", 4, np.inf),
        ("body_ipos", 4, np.nan),
        ("qpos0", 8, np.nan),
        ("name_jntadr", 1, 2**31 - 1),
        ("name_bodyadr", 2, -1),
    ):
        alien_models.healthy.cache_clear()
        peer = alien_models.healthy("mujoco")
        getattr(peer, name)[at] = value
        with pytest.raises(ValueError, match=rf"mj_model\.{name}: expected"):
            convention_of("mujoco", peer)
    alien_models.healthy.cache_clear()
