#!/bin/sh
set -eu
echo "version=$KUBERNETES_VERSION" >>"${SALVE_OUTPUT:-/dev/null}"
echo "$CLUSTER_NAME runs $KUBERNETES_VERSION"
