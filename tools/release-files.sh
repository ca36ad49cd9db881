#!/usr/bin/env bash
# Writes what a release holds beside the programs: completions of shells and pages for man. Built as the release builds
# it, so that nothing is built twice.
set -euo pipefail
cd "$(dirname "$0")/.."
into=${1:?which folder to write into}

rm -rf "$into"
mkdir -p "$into/completions" "$into/man"
CGO_ENABLED=0 "${GO:-go}" build -trimpath -ldflags '-s -w' -o "$into/salve" ./cmd/salve
for shell in bash fish zsh; do
  "$into/salve" completion "$shell" >"$into/completions/salve.$shell"
done
"$into/salve" completion powershell >"$into/completions/salve.ps1"
