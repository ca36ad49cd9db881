#!/usr/bin/env bash
# A management cluster's rollout of 28 steps, with a runbook that mends the system
# pool before the step that would get stuck behind it: a real control plane, and a
# served Azure. Helm and what is neither ARM's nor Kubernetes' own is left out.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$scratch"' EXIT

until_says() { until grep -q "$2" "$1" 2>/dev/null; do sleep 0.2; done; }
show() { printf '\n$ %s\n' "$*"; "$@"; }

echo '# A real control plane, and an Azure whose managed cluster it is, 30 times as fast.'
bin/cluster >"$scratch/cluster" &
until_says "$scratch/cluster" KUBECONFIG
eval "$(cat "$scratch/cluster")"
bin/salve sim serve examples/fleet/world.yaml --kubeconfig "$KUBECONFIG" --speed 30 >"$scratch/azure" 2>"$scratch/azure.log" &
until_says "$scratch/azure" '^salve run'
eval "$(grep ^export "$scratch/azure")"
read -ra azure <<<"$(grep '^salve run' "$scratch/azure" | grep -oE -- '--(arm-endpoint|authority-host|arm-ca) [^ ]+' | tr '\n' ' ')"

cp -r examples/fleet "$scratch/fleet" # its build step makes a program there
show bin/salve pipeline run "$scratch/fleet/pipeline.yaml" --config "$scratch/fleet/config.yaml" --journal "$scratch/journal" \
  --skip-actions ProviderFeatureRegistration,SetCertificateIssuer,Helm --timeline "$scratch/timeline.svg" "${azure[@]}"
