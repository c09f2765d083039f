"""The functions of `dtau` on CasADi's matrices, written from their rows."""

from __future__ import annotations

from dtau.autodiff.write import define

__all__ = define("casadi", globals())
