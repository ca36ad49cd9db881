#!/usr/bin/env bash
# Writes what a release holds beside the programs: completions of shells, pages for man, the Helm chart, the licenses of
# what is linked in. Built as the release builds it, so that nothing is built twice.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?which version} into=bin/release go=${GO:-go}

rm -rf "$into"
mkdir -p "$into/completions" "$into/man"
CGO_ENABLED=0 "$go" build -trimpath -buildvcs=true -ldflags '-s -w' -o "$into/salve" ./cmd/salve
for shell in bash fish zsh; do
  "$into/salve" completion "$shell" >"$into/completions/salve.$shell"
done
"$into/salve" completion powershell >"$into/completions/salve.ps1"
"$into/salve" docs man "$into/man"

(cd tools/release && "$go" build -o "../../bin/make-release" .)
bin/make-release chart -version "$version" -created "$(git log -1 --format=%cI)" -into "$into"
for program in salve salve-sim salve-node; do
  platforms=linux/amd64,linux/arm64
  [ "$program" = salve-node ] || platforms+=,darwin/amd64,darwin/arm64,windows/amd64
  bin/make-release licenses -program "./cmd/$program" -platforms "$platforms" -into "$into/licenses/$program"
done
