#!/usr/bin/env bash
# A recovery that is killed while the pool is being deleted, and goes on from
# another machine: a real control plane, a served Azure, and two processes of salve.
set -euo pipefail
. "$(dirname "$0")/demo-world.sh"

serve wedged
echo '# A runner, which dies while the pool is being deleted.'
printf '\n$ %s\n' "${run[*]}"
"bin/${run[@]}" 2>"$scratch/first.log" &
first=$!
until_says "$scratch/first.log" 'delete-pool: began'
sleep 1
printf '$ kill -9 %s\n' "$first"
kill -9 "$first"
wait "$first" 2>/dev/null || true

echo '# Another runner: all that it has is the cluster.'
show bin/salve runs list --kubeconfig "$KUBECONFIG"
name=$(bin/salve runs list --kubeconfig "$KUBECONFIG" --output json 2>/dev/null | sed -n 's/.*"run": "\([^"]*\)".*/\1/p')
show bin/salve resume "$name" "${run[@]:3:6}" "${run[@]:11}" 2>"$scratch/second.log"
