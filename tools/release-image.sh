#!/usr/bin/env bash
# Makes the container image of a release in dist/image, an OCI image layout, from the binaries that GoReleaser built.
set -euo pipefail
cd "$(dirname "$0")/.."

bin/make-release image -dist dist -created "$(git log -1 --format=%cI)" -source "${SALVE_HOMEPAGE:-}"
