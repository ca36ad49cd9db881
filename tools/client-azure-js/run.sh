#!/usr/bin/env bash
# Azure's SDK for JavaScript, as npm has it, against salve-sim serve with a real control plane: a row for each call.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=tools/client-azure-js scratch=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$scratch"' EXIT

wait_for() { # FILE TEXT: until the file says it, for two minutes
  for _ in $(seq 600); do grep -q "$2" "$1" 2>/dev/null && return; sleep 0.2; done
  echo "$1 never said $2" >&2
  cat "$scratch"/*.log >&2
  exit 1
}

(cd "$here" && npm ci --no-audit --no-fund --loglevel=error)
bin/cluster >"$scratch/cluster" 2>"$scratch/cluster.log" &
wait_for "$scratch/cluster" KUBECONFIG
eval "$(cat "$scratch/cluster")"
bin/salve-sim serve "$here/scenario.yaml" --kubeconfig "$KUBECONFIG" --speed 60 --ca-file "$scratch/ca.pem" \
  --output json >"$scratch/azure" 2>"$scratch/azure.log" &
wait_for "$scratch/azure" '"url"'
url=$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")).url' "$scratch/azure")
NODE_EXTRA_CA_CERTS="$scratch/ca.pem" node "$here/client.mjs" "$url" 5a1e0000-0000-4000-8000-000000000001
