#!/usr/bin/env bash
# All checks: format, lints, every test, every documentation example, and the example programs, which end in asserts.
set -euo pipefail
cd "$(dirname "$0")"
cargo fmt --all --check
cargo clippy --workspace --all-targets --release -- -D warnings
cargo test --workspace --release
for example in crates/polhode/examples/*; do
    cargo run --quiet --release -p polhode --example "$(basename "$example" .rs)" > /dev/null
done
