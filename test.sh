#!/usr/bin/env bash
# All checks: format, lints, every test and every documentation example.
set -euo pipefail
cd "$(dirname "$0")"
cargo fmt --all --check
cargo clippy --workspace --all-targets --release -- -D warnings
cargo test --workspace --release
