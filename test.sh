#!/usr/bin/env bash
# All checks: format, lints, every test, every documentation example, the example programs, which end in asserts, and the
# Python package in a virtual environment of its own.
set -euo pipefail
cd "$(dirname "$0")"
target="${CARGO_TARGET_DIR:-target}"
mkdir -p "$target"
rm -rf "$target/venv" "$target/wheels"
cargo fmt --all --check
# Lints, and unit tests compiled without optimisation, beside the optimised tests: each has stretches that use one core only.
# The lock of one profile does not hold up the other.
(
    cargo clippy --workspace --all-targets -- -D warnings
    cargo test --profile unit -p polhode -p polhode-cli --lib
) > "$target/lints-and-unit-tests.log" 2>&1 &
beside=$!
# What tests want from elsewhere, fetched meanwhile: a real browser, in which the page of a run is opened (root gets it from the
# distribution here; elsewhere that test waits for one), and packages of Python.
(
    if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null && ! command -v chromium > /dev/null; then
        apt-get -qq update && apt-get -qq install -y chromium > /dev/null || echo "note: there is no chromium to be had" >&2
    fi
    python3 -m venv "$target/venv"
    "$target/venv/bin/pip" install --quiet $(sed -n 's/^test = \[\(.*\)\]$/\1/p' pyproject.toml | tr -d '",')
) > "$target/fetched.log" 2>&1 &
fetching=$!
trap 'kill "$beside" "$fetching" 2> /dev/null || true' EXIT
# The example programs too, from the same library: `cargo run -p polhode` would compile another one, with the features that this
# package alone asks of its dependencies.
cargo test --workspace --release --no-run
wait "$fetching" || { cat "$target/fetched.log" >&2; exit 1; }
cat "$target/fetched.log"
cargo test --workspace --release
for example in crates/polhode/examples/*; do
    "$target/release/examples/$(basename "$example" .rs)" > /dev/null
done
wait "$beside" || { cat "$target/lints-and-unit-tests.log" >&2; exit 1; }
cat "$target/lints-and-unit-tests.log"

"$target/venv/bin/pip" wheel --quiet --no-deps --wheel-dir "$target/wheels" .
if [ -n "$(find "$target/wheels" -size +12M)" ]; then
    echo "error: the wheel is larger than 12 MB" >&2
    exit 1
fi
"$target/venv/bin/pip" install --quiet "$(echo "$target"/wheels/*.whl)[test]"
"$target/venv/bin/python" -m pytest --quiet
