"""Damaged MJCF: what MuJoCo makes of it is a model that can be used, or a `ModelError`.

Mostly it is MuJoCo's own compiler that is tried.
"""

from __future__ import annotations

import fuzz_files
import numpy as np
from mjcf_files import ROBOTS
from odd_values import choose

Rng = np.random.Generator

FORCES = """<mujoco><worldbody><body name="a"><joint name="j"/><geom size=".1"/>
<body name="b" pos="1 0 0"><joint name="k" type="ball"/><geom size=".1"/>
<body name="c"><joint name="l" type="slide" stiffness="3" damping="1"/><geom size="1"/></body>
</body></body><body><freejoint/><geom size="0.3"/></body></worldbody>
<equality><joint joint1="j" joint2="l" polycoef="0.1 2 0 0 0"/>
<weld body1="a" body2="c"/></equality>
<tendon><fixed name="t" stiffness="1"><joint joint="j" coef="1"/></fixed></tendon>
<actuator><general joint="j" gear="2" armature="1" damping="1"/></actuator></mujoco>"""


def check(rng: Rng) -> str:
    """Load a damaged text; return "model" or "refused", or raise AssertionError."""
    text = choose(rng, [*ROBOTS.values(), FORCES])
    for _ in range(rng.integers(0, 4)):
        text = choose(rng, fuzz_files.CHANGES)(rng, text)[:200_000]
    options = {
        "root": choose(rng, ["fixed", "free", None, None]),
        "mimic": choose(rng, ["independent", "exact"]),
    }
    return fuzz_files.loaded(text, options, text)
