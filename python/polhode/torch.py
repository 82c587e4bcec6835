"""Runs as functions of torch, with exact gradients.

>>> import polhode.torch  # doctest: +SKIP
>>> f = polhode.torch.function("heavy-top", ["mass"], ["position"], 0.1)  # doctest: +SKIP
>>> f(x)[2].backward()  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from ._tools import Function, Source

__all__ = ["function", "of"]


def of(f: Function) -> Callable[[Any], Any]:
    """A function of torch with the values and the exact derivatives of this one."""

    class Run(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            values, jac = f.value_and_jac(x.detach().cpu().numpy().astype(np.float64))
            ctx.save_for_backward(torch.as_tensor(jac.copy(), dtype=x.dtype, device=x.device))
            return torch.as_tensor(values.copy(), dtype=x.dtype, device=x.device)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            (jac,) = ctx.saved_tensors
            return gradients[0] @ jac

    def call(x: Any) -> Any:
        return Run.apply(x)

    call.x0 = torch.as_tensor(f.x0.copy())  # type: ignore[attr-defined]
    call.parameters = f.parameters  # type: ignore[attr-defined]
    call.split = f.split  # type: ignore[attr-defined]
    return call


def function(model: Source, parameters: str | Sequence[str], columns: str | Sequence[str], *args: Any, **options: Any) -> Any:
    """The same from a model, as ``polhode.Function`` takes it."""
    return of(Function(model, parameters, columns, *args, **options))
