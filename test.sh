#!/usr/bin/env bash
# All checks: format, lints, every test, every documentation example, and the example programs, which end in asserts.
set -euo pipefail
cd "$(dirname "$0")"
cargo fmt --all --check
cargo clippy --workspace --all-targets --profile checks -- -D warnings
cargo test --workspace --profile checks
for example in crates/polhode/examples/*; do
    cargo run --quiet --profile checks -p polhode --example "$(basename "$example" .rs)" > /dev/null
done
