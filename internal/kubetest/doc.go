// Package kubetest runs a real Kubernetes control plane for tests: etcd,
// kube-apiserver, kube-controller-manager, kube-scheduler, and kwok in the place
// of kubelets. The programs come from make control-plane.
//
// Everything listens on free ports of the loopback interface, keeps its files in
// a folder of its own, and is gone when the process that asked for it is gone,
// however it went. It must never be linked into a program that users run.
package kubetest
