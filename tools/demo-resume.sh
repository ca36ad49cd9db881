#!/usr/bin/env bash
# A recovery that is killed while the pool is being deleted, and goes on from
# another machine: a real control plane, a served Azure, and two processes of salve.
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
bin/salve sim serve wedged --kubeconfig "$KUBECONFIG" --speed 30 >"$scratch/azure" 2>"$scratch/azure.log" &
until_says "$scratch/azure" '^salve run'
eval "$(grep ^export "$scratch/azure")"
read -ra run <<<"$(grep '^salve run' "$scratch/azure")"

echo '# A runner, which dies while the pool is being deleted.'
printf '\n$ %s\n' "${run[*]}"
"bin/${run[@]}" 2>"$scratch/first.log" &
first=$!
until_says "$scratch/first.log" '"step began".*delete-pool'
sleep 1
printf '$ kill -9 %s\n' "$first"
kill -9 "$first"
wait "$first" 2>/dev/null || true

echo '# Another runner: all that it has is the cluster.'
show bin/salve runs list --kubeconfig "$KUBECONFIG"
name=$(bin/salve runs list --kubeconfig "$KUBECONFIG" --output json 2>/dev/null | sed -n 's/.*"run": "\([^"]*\)".*/\1/p')
show bin/salve resume "$name" "${run[@]:3:6}" "${run[@]:11}" 2>"$scratch/second.log"
