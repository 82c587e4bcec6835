#!/usr/bin/env bash
# All checks: format, lints, every test, every documentation example, and the example programs, which end in asserts.
set -euo pipefail
cd "$(dirname "$0")"
cargo fmt --all --check
cargo clippy --workspace --all-targets --release -- -D warnings
# It has built the example programs too, from the same library: `cargo run -p polhode` would compile another one, with the
# features that this package alone asks of its dependencies.
cargo test --workspace --release
for example in crates/polhode/examples/*; do
    "${CARGO_TARGET_DIR:-target}/release/examples/$(basename "$example" .rs)" > /dev/null
done
