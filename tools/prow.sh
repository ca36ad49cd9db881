#!/usr/bin/env bash
# Builds Prow's own programs into a folder: those that are there already, of the version that the module here pins, are
# left as they are.
set -euo pipefail
mkdir -p "${1:?the folder to build into}"
into=$(cd "$1" && pwd)
cd "$(dirname "$0")"
go=${GO:-go}
. ./program.sh

# A package knows its module's version from go.mod; go list -m would ask the proxy for the version's date as well, which
# nothing here needs.
prow=$(cd prow && "$go" list -f '{{.Module.Version}}' sigs.k8s.io/prow/cmd/sinker)
for name in prow-controller-manager sinker branchprotector checkconfig crier status-reconciler; do
  program prow "$prow" "sigs.k8s.io/prow/cmd/$name" "$name"
done
