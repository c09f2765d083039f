"""Learn what the model of an arm lacks, as a Lagrangian on top of its analytical dynamics.

An arm of three joints carries a payload and a counterbalance that its model knows nothing of. Joint
angles and rates are measured with noise along short pieces of motion; accelerations are not. What
is lacking is learnt as energies: networks give a mass matrix to add, L(q) L(q)^T, and a potential
V(q), and the equations of motion are those of Lagrange,

    (M(q) + L L^T) a = tau - h(q, v) - c(q, v),   c = (d/dt L L^T) v - d/dq (v.T L L^T v / 2 - V)

with M and h from `dtau.torch.mass_matrix` and `dtau.torch.bias_torque`. The loss is how far off the
states are after some steps of Runge and Kutta, so its gradient goes back through these functions,
step by step. Beside it a network learns a torque freely, from q, v and tau, on top of
`dtau.torch.forward_dynamics`: it makes energy of nothing.

    python examples/lagrangian_residual.py                      # errors on motions not seen
    python examples/lagrangian_residual.py --plot residual.png  # over time, and energy (matplotlib)
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import program
import torch
from torch import Tensor, nn

import dtau
import dtau.torch

DT, HORIZON = 0.02, 4  # s and steps of a piece of motion
NOISE = 1e-3  # of angles in rad, of rates in rad/s
PAYLOAD = dtau.Inertia(0.8, (0.0, 0.0, -0.3), np.diag([4e-3, 4e-3, 2e-3]))
STIFFNESS, SECOND = 5.0, 2.0  # N m, of a counterbalance at the second joint: sin q and sin 2q
Acceleration = Callable[[Tensor, Tensor, Tensor], Tensor]


def arm(payload: dtau.Inertia | None = None) -> dtau.Model:
    """An arm of three joints that hangs; without friction, so that energy is kept."""
    builder = dtau.ModelBuilder("arm")
    links = (((0, 0, 1), 0.0, 2.0, 0.05), ((0, 1, 0), 0.1, 1.5, 0.18), ((0, 1, 0), 0.36, 1.0, 0.15))
    parent = None
    for k, (axis, drop, mass, half) in enumerate(links):
        size = np.diag([half**2 / 3, half**2 / 3, 1e-3])
        inertia = dtau.Inertia(mass, (0, 0, -half), mass * size)
        parent = builder.add(
            dtau.Revolute(axis),
            name=f"link{k + 1}",
            parent=parent,
            placement=dtau.Pose(translation=(0, 0, -drop)),
            inertia=inertia + payload if payload and k == 2 else inertia,
            armature=0.05,
        )
    return builder.build()


BELIEVED, TRUE = arm(), arm(PAYLOAD)


def true_acceleration(q: Tensor, v: Tensor, tau: Tensor) -> Tensor:
    """Of the arm as it is."""
    spring = torch.zeros_like(q)
    spring[..., 1] = STIFFNESS * torch.sin(q[..., 1]) + SECOND * torch.sin(2 * q[..., 1])
    return dtau.torch.forward_dynamics(TRUE, q, v, tau - spring)


def believed_acceleration(q: Tensor, v: Tensor, tau: Tensor) -> Tensor:
    """Of the arm as its model has it."""
    return dtau.torch.forward_dynamics(BELIEVED, q, v, tau)


def energy(q: Tensor, v: Tensor) -> np.ndarray:
    """Of the arm as it is."""
    x, angle = (q.numpy(), v.numpy()), q[..., 1].numpy()
    spring = -STIFFNESS * np.cos(angle) - SECOND / 2 * np.cos(2 * angle)
    return dtau.kinetic_energy(TRUE, *x) + dtau.potential_energy(TRUE, x[0]) + spring


def network(inputs: int, outputs: int) -> nn.Sequential:
    """Two hidden layers."""
    layers = (nn.Linear(inputs, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh())
    last = nn.Linear(48, outputs)
    nn.init.normal_(last.weight, std=1e-2)
    return nn.Sequential(*layers, last).double()


def features(q: Tensor) -> Tensor:
    """Angles as they return to where they were."""
    return torch.cat((torch.sin(q), torch.cos(q)), -1)


class LagrangianResidual(nn.Module):
    """A mass matrix and a potential to add to the model's."""

    def __init__(self) -> None:
        super().__init__()
        self.triangle, self.height = network(6, 6), network(6, 1)

    def mass(self, q: Tensor) -> Tensor:
        """L(q) L(q)^T."""
        entries = self.triangle(features(q))
        rows = [entries[..., :3], entries[..., [1, 3, 4]], entries[..., [2, 4, 5]]]
        factor = torch.tril(torch.stack(rows, -2))
        return factor @ factor.mT

    def forward(self, q: Tensor, v: Tensor, tau: Tensor) -> Tensor:
        """Acceleration."""

        def momentum(q: Tensor) -> Tensor:
            return (self.mass(q) @ v[..., None])[..., 0]

        def lagrangian(q: Tensor) -> Tensor:
            return (0.5 * (v * momentum(q)).sum(-1) - 10.0 * self.height(features(q))[..., 0]).sum()

        _, rate = torch.func.jvp(momentum, (q,), (v,))
        known = dtau.torch.bias_torque(BELIEVED, q, v)
        rest = tau - known - rate + torch.func.grad(lagrangian)(q)
        return torch.linalg.solve(dtau.torch.mass_matrix(BELIEVED, q) + self.mass(q), rest)


class FreeResidual(nn.Module):
    """A torque to add to the one that is applied."""

    def __init__(self) -> None:
        super().__init__()
        self.torque = network(12, 3)

    def forward(self, q: Tensor, v: Tensor, tau: Tensor) -> Tensor:
        """Acceleration."""
        more = 10.0 * self.torque(torch.cat((features(q), 0.3 * v, 0.1 * tau), -1))
        return dtau.torch.forward_dynamics(BELIEVED, q, v, tau + more)


def roll(acceleration: Acceleration, q: Tensor, v: Tensor, taus: Tensor) -> tuple[Tensor, Tensor]:
    """States (steps + 1, ..., 3) under torques (steps, ..., 3), by Runge's and Kutta's method."""
    angles, rates = [q], [v]
    for tau in taus:
        a1 = acceleration(q, v, tau)
        v2 = v + DT / 2 * a1
        a2 = acceleration(q + DT / 2 * v, v2, tau)
        v3 = v + DT / 2 * a2
        a3 = acceleration(q + DT / 2 * v2, v3, tau)
        v4 = v + DT * a3
        a4 = acceleration(q + DT * v3, v4, tau)
        q, v = q + DT / 6 * (v + 2 * v2 + 2 * v3 + v4), v + DT / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        angles.append(q)
        rates.append(v)
    return torch.stack(angles), torch.stack(rates)


def motions(count: int, steps: int, seed: int, size: float = 1.0) -> tuple[Tensor, Tensor, Tensor]:
    """Angles, rates (steps + 1, count, 3) and torques (steps, count, 3) of the arm as it is."""
    generator = torch.Generator().manual_seed(seed)

    def uniform(most: float, *shape: int) -> Tensor:
        return size * most * (2 * torch.rand(*shape, generator=generator, dtype=torch.float64) - 1)

    q, v, taus = uniform(2.0, count, 3), uniform(4.0, count, 3), uniform(3.0, steps, count, 3)
    return *roll(true_acceleration, q, v, taus), taus


def train(residual: nn.Module, count: int, iterations: int, seed: int = 0) -> list[float]:
    """Fit to pieces of motion, measured with noise; return the loss as it went."""
    q, v, taus = motions(count, HORIZON, seed)
    generator = torch.Generator().manual_seed(seed + 1)
    q, v = (x + NOISE * torch.randn(x.shape, generator=generator, dtype=x.dtype) for x in (q, v))
    optimizer = torch.optim.Adam(residual.parameters(), 4e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, iterations)
    losses = []
    for _ in range(iterations):
        some = torch.randint(count, (min(64, count),), generator=generator)
        angles, rates = roll(residual, q[0, some], v[0, some], taus[:, some])
        loss = ((angles - q[:, some]) ** 2).mean() + 0.02 * ((rates - v[:, some]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(residual.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


def learn(count: int, iterations: int, seed: int = 0) -> dict[str, Acceleration]:
    """The arm's model alone, and with either residual."""
    torch.manual_seed(seed)
    kinds: dict[str, nn.Module] = {
        "with a free torque": FreeResidual(),
        "with a Lagrangian": LagrangianResidual(),
    }
    for name, residual in kinds.items():
        losses = train(residual, count, iterations, seed)
        print(f"{name}: loss from {losses[0]:.1e} to {losses[-1]:.1e} in {iterations} steps")
    return {"the model alone": believed_acceleration, **kinds}


@torch.no_grad()
def errors(found: dict[str, Acceleration], steps: int, seed: int = 100) -> dict[str, np.ndarray]:
    """Errors of the angles (steps + 1, motions) on motions that nobody has seen, in rad."""
    q, v, taus = motions(50, steps, seed, 0.5)
    return {
        name: (roll(of, q[0], v[0], taus)[0] - q).norm(dim=-1).numpy() for name, of in found.items()
    }


@torch.no_grad()
def energies(found: dict[str, Acceleration], steps: int) -> dict[str, np.ndarray]:
    """What each makes of the arm's energy in J (steps + 1,), without torque."""
    q = torch.tensor([[0.3, 1.2, -0.6]], dtype=torch.float64)
    v, taus = torch.zeros_like(q), torch.zeros(steps, 1, 3, dtype=torch.float64)
    every = {"truth": true_acceleration, **found}
    return {name: energy(*roll(of, q, v, taus))[:, 0] for name, of in every.items()}


def report(off: dict[str, np.ndarray]) -> None:
    """Print errors at some times."""
    steps = len(next(iter(off.values()))) - 1
    at = [k for k in (HORIZON, 25, 50, 100) if k <= steps]
    times = "".join(f"{k * DT:9.2f} s" for k in at)
    print(f"\nmedian error of the angles (rad) after{times}")
    for name, error in off.items():
        print(f"{name:>37}" + "".join(f"{np.median(error[k]):11.5f}" for k in at))


def plot(off: dict[str, np.ndarray], energy_of: dict[str, np.ndarray], path: Path) -> None:
    """Draw errors and energy over time."""
    plt = program.pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
    colors = {"truth": "0.2", **dict(zip(off, ("C3", "C1", "C0"), strict=True))}
    for name, error in off.items():
        time = DT * np.arange(len(error))
        low, middle, high = np.quantile(error, (0.25, 0.5, 0.75), axis=1)
        left.semilogy(time[1:], middle[1:], color=colors[name], label=name)
        left.fill_between(time[1:], low[1:], high[1:], color=colors[name], alpha=0.15, linewidth=0)
    left.axvline(HORIZON * DT, color="black", linewidth=0.8, linestyle=":")
    title = "error of the angles on new motions (rad); dotted: as far as was trained"
    left.set_title(title, fontsize=10)
    left.legend()
    for name, value in energy_of.items():
        if name != "the model alone":  # off the scale
            time = DT * np.arange(len(value))
            dashed = "--" if name == "truth" else "-"
            right.plot(time, value, dashed, color=colors[name], label=name)
    right.set_title("energy without torque or friction (J)", fontsize=10)
    truth = energy_of["truth"][0]
    right.set_ylim(truth - 4.0, truth + 8.0)
    right.legend(loc="lower right")
    for axes in (left, right):
        axes.set_xlabel("time (s)")
    program.save(figure, path)


def main() -> None:
    parser = program.options(__doc__, "draw errors and energy")
    program.number(parser, "--pieces", 500, "of motion to train on")
    program.number(parser, "--iterations", 600, "of the training")
    args = parser.parse_args()
    found = learn(args.pieces, args.iterations)
    off = errors(found, 100)
    report(off)
    if args.plot:
        plot(off, energies(found, 500), args.plot)


if __name__ == "__main__":
    main()
