#!/usr/bin/env bash
# Builds the programs of a Kubernetes control plane into a folder: those that are
# there already, of the versions that the modules here pin, are left as they are.
set -euo pipefail
mkdir -p "${1:?the folder to build into}"
into=$(cd "$1" && pwd)
cd "$(dirname "$0")"
go=${GO:-go}

. ./program.sh

# kubectl refuses a server, and itself, without a version.
kubernetes=$(version kubernetes k8s.io/kubernetes)
IFS=. read -r major minor _ <<<"${kubernetes#v}"
set_version="-X k8s.io/component-base/version.gitVersion=$kubernetes -X k8s.io/component-base/version.gitMajor=$major -X k8s.io/component-base/version.gitMinor=$minor"
for name in kube-apiserver kube-controller-manager kube-scheduler kubectl; do
  program kubernetes "$kubernetes" "k8s.io/kubernetes/cmd/$name" "$name" "$set_version"
done
program etcd "$(version etcd go.etcd.io/etcd/server/v3)" go.etcd.io/etcd/server/v3 etcd
program kwok "$(version kwok sigs.k8s.io/kwok)" sigs.k8s.io/kwok/cmd/kwok kwok
