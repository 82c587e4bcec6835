"""Python values as the text of a model file."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


def key(name: str) -> str:
    """A key, in quotes where it needs them."""
    return name if _BARE.match(name) else json.dumps(name, ensure_ascii=False)


def value(given: Any, what: str) -> str:
    """A value; `what` names it in messages."""
    if hasattr(given, "as_rotvec"):
        # A rotation of scipy, from body to space as ours are.
        given = given.as_rotvec()
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if isinstance(given, np.generic):
        given = given.item()
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, int):
        return str(given)
    if isinstance(given, float):
        if not math.isfinite(given):
            raise ValueError(f"{what} must be finite, got {given}")
        return repr(given)
    if isinstance(given, str):
        # Control characters and the like are written the same way in JSON and TOML, but for DEL.
        return json.dumps(given, ensure_ascii=False).replace("\x7f", "\\u007F")
    if isinstance(given, Mapping):
        return "{ " + ", ".join(f"{key(str(k))} = {value(v, f'{what}.{k}')}" for k, v in given.items()) + " }"
    if isinstance(given, Sequence):
        return "[" + ", ".join(value(v, what) for v in given) + "]"
    raise TypeError(f"{what} takes numbers, text, lists and dicts, not {type(given).__name__}")


def table(head: str, entries: Mapping[str, Any]) -> str:
    """A table with its head."""
    lines = [head] if head else []
    lines += [f"{key(name)} = {value(given, name)}" for name, given in entries.items()]
    return "\n".join(lines) + "\n"


def document(given: Mapping[str, Any]) -> str:
    """A whole model: numbers and lists first, then tables, with those of elements as tables of their own."""
    top = {name: v for name, v in given.items() if not isinstance(v, Mapping) and name != "loads"}
    parts = [table("", top)] if top else []
    for name, entry in given.items():
        if name == "loads":
            parts += [table("[[loads]]", load) for load in entry]
        elif isinstance(entry, Mapping):
            nested = {k: v for k, v in entry.items() if isinstance(v, Mapping) and name not in ("parameters", "run")}
            plain = {k: v for k, v in entry.items() if k not in nested}
            if plain or not nested:
                parts.append(table(f"[{key(name)}]", plain))
            parts += [table(f"[{key(name)}.{key(k)}]", v) for k, v in nested.items()]
    return "\n".join(parts)
