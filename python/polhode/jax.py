"""Runs as functions of JAX: ``jax.grad``, ``jax.jit`` and ``jax.vmap`` go through them.

>>> import polhode.jax  # doctest: +SKIP
>>> f = polhode.jax.function("heavy-top", ["mass"], ["position"], 0.1)  # doctest: +SKIP
>>> jax.grad(lambda x: f(x)[2])(f.x0)  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._tools import Function, Source

__all__ = ["function", "of"]


def of(f: Function) -> Callable[[Any], Any]:
    """A function of JAX with the values and the exact derivatives of this one; numbers are of double precision where JAX
    has that switched on."""
    count = len(f.parameters)

    def shapes(x: Any) -> Any:
        like: Any = jax.ShapeDtypeStruct
        return like((f.size,), x.dtype), like((f.size, count), x.dtype)

    def host(x: Any) -> Any:
        at = np.asarray(x)
        values, jac = f.value_and_jac(at.astype(np.float64))
        return values.astype(at.dtype), jac.astype(at.dtype)

    def plain(x: Any) -> Any:
        return jax.pure_callback(host, shapes(x), x, vmap_method="sequential")[0]

    def with_tangent(primals: Any, tangents: Any) -> Any:
        # Linear in the tangent, so that JAX transposes it for gradients.
        (x,), (dx,) = primals, tangents
        values, jac = jax.pure_callback(host, shapes(x), x, vmap_method="sequential")
        return values, jac @ dx

    run: Any = jax.custom_jvp(plain)
    run.defjvp(with_tangent)

    def call(x: Any) -> Any:
        x = jnp.asarray(x)
        return run(x if jnp.issubdtype(x.dtype, jnp.floating) else x.astype(float))

    call.x0 = jnp.asarray(f.x0)  # type: ignore[attr-defined]
    call.parameters = f.parameters  # type: ignore[attr-defined]
    call.split = f.split  # type: ignore[attr-defined]
    return call


def function(model: Source, parameters: str | Sequence[str], columns: str | Sequence[str], *args: Any, **options: Any) -> Any:
    """The same from a model, as ``polhode.Function`` takes it."""
    return of(Function(model, parameters, columns, *args, **options))
