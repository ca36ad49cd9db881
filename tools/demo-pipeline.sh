#!/usr/bin/env bash
# A management cluster's rollout of 28 steps, with a runbook that mends the system
# pool before the step that would get stuck behind it: a real control plane, and a
# served Azure. Helm and what is neither ARM's nor Kubernetes' own is left out.
set -euo pipefail
. "$(dirname "$0")/demo-world.sh"

serve examples/fleet/world.yaml
cp -r examples/fleet "$scratch/fleet" # its build step makes a program there
show bin/salve pipeline run "$scratch/fleet/pipeline.yaml" --config "$scratch/fleet/config.yaml" --journal "$scratch/journal" \
  --skip-actions SetCertificateIssuer,Helm "${run[@]: -6}" # the flags that lead to the served Azure
