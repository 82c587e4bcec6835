"""Sweeps by the workers of Ray, whose tasks are no futures of Python.

>>> import ray, polhode.ray  # doctest: +SKIP
>>> ray.init()  # doctest: +SKIP
>>> polhode.sweep(plan, polhode.ray.Workers(), out="runs")  # doctest: +SKIP
"""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from typing import Any

import ray

__all__ = ["Workers"]


class Workers(concurrent.futures.Executor):
    """The workers of the cluster that ``ray.init`` has reached; options are those of ``ray.remote``, as ``num_cpus=2``."""

    def __init__(self, **options: Any) -> None:
        # A sweep tries again by itself, and finds the run that ends its worker.
        self._options = {"max_retries": 0} | options

    @property
    def num_workers(self) -> int:
        """How many tasks run at once."""
        return max(1, int(ray.cluster_resources().get("CPU", 1) / self._options.get("num_cpus", 1)))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Any]:
        """Sends a call to a worker."""
        if not ray.is_initialized():
            # It would start a cluster of its own, on this machine.
            raise concurrent.futures.BrokenExecutor("Ray is not running: call ray.init first")
        future: concurrent.futures.Future[Any] = ray.remote(**self._options)(fn).remote(*args, **kwargs).future()
        return future
