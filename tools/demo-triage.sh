#!/usr/bin/env bash
# Two rollout gates that failed, generated with what is known beside them, and what Salve says of each: a cluster that is
# out of order, and a change that broke something.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
go build -o "$folder/generate" ./internal/triage/simulation/generate
export PATH="$PWD/bin:$PATH"

show() {
  local kind=$1 seed=$2
  mkdir "$folder/$kind"
  local arguments
  arguments=$(cd "$folder/$kind" && ../generate -kind "$kind" -seed "$seed" .)
  echo
  echo "\$ salve triage $arguments"
  # shellcheck disable=SC2086
  (cd "$folder/$kind" && salve triage $arguments)
}

show outage 8
show regression 3
