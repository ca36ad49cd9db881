# Sourced by the demonstrations: a real control plane, and an Azure whose managed
# cluster it is, 30 times as fast. What they leave goes with them.
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$scratch"' EXIT

# until_says FILE TEXT waits two minutes at most.
until_says() {
  for _ in {1..600}; do
    if grep -q "$2" "$1" 2>/dev/null; then return; fi
    sleep 0.2
  done
  echo "nothing says $2:" >&2
  tail -n 20 "$1" >&2
  exit 1
}
show() { printf '\n$ %s\n' "$*"; "$@"; }

# serve SCENARIO exports what leads to both, and puts the salve run that goes with
# it into the array run.
serve() {
  echo '# A real control plane, and an Azure whose managed cluster it is, 30 times as fast.'
  bin/cluster >"$scratch/cluster" &
  until_says "$scratch/cluster" KUBECONFIG
  eval "$(cat "$scratch/cluster")"
  bin/salve sim serve "$1" --kubeconfig "$KUBECONFIG" --speed 30 >"$scratch/azure" 2>"$scratch/azure.log" &
  until_says "$scratch/azure" '^salve run'
  eval "$(grep ^export "$scratch/azure")"
  read -ra run <<<"$(grep '^salve run' "$scratch/azure")"
}
