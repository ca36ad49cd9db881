#!/usr/bin/env bash
# Adds to a release what GoReleaser knows nothing of: the Helm chart, and the container image in dist/image, an OCI image
# layout, made from the binaries that GoReleaser built.
set -euo pipefail
cd "$(dirname "$0")/.."

cp bin/release/salve-chart-*.tgz dist/
bin/make-release image -dist dist -created "$(git log -1 --format=%cI)" -source "${SALVE_HOMEPAGE:-}"
