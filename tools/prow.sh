#!/usr/bin/env bash
# Builds Prow's own programs into a folder: those that are there already, of the version that the module here pins, are
# left as they are.
set -euo pipefail
mkdir -p "${1:?the folder to build into}"
into=$(cd "$1" && pwd)
cd "$(dirname "$0")"
go=${GO:-go}
. ./program.sh

prow=$(version prow sigs.k8s.io/prow)
for name in prow-controller-manager sinker branchprotector checkconfig crier status-reconciler; do
  program prow "$prow" "sigs.k8s.io/prow/cmd/$name" "$name"
done
