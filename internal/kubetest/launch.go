package kubetest

import (
	"fmt"
	"path/filepath"
)

// ports are those that the programs listen on, all of 127.0.0.1.
type ports struct{ etcd, peer, api int }

// freePorts asks the system for ports that nobody listens on.
func freePorts() (ports, error) {
	found, err := FreePorts(3)
	if err != nil {
		return ports{}, err
	}
	return ports{etcd: found[0], peer: found[1], api: found[2]}, nil
}

func (c *ControlPlane) file(name string) string { return filepath.Join(c.folder, name) }

// arguments are how a program is started here. Limits of the controllers' own are
// lifted: what tests measure is the API server and its clients.
func (c *ControlPlane) arguments(name string) []string {
	etcd := fmt.Sprintf("http://127.0.0.1:%d", c.ports.etcd)
	peer := fmt.Sprintf("http://127.0.0.1:%d", c.ports.peer)
	controller := []string{
		"--kubeconfig=" + c.kubeconfig, "--secure-port=0", "--leader-elect=false", "--kube-api-qps=1000",
		"--kube-api-burst=2000",
	}
	switch name {
	case "etcd":
		return []string{
			"--data-dir=" + c.file("etcd"), "--listen-client-urls=" + etcd, "--advertise-client-urls=" + etcd,
			"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
			"--unsafe-no-fsync", "--log-level=warn",
		}
	case "kube-apiserver":
		return []string{
			"--etcd-servers=" + etcd, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
			fmt.Sprintf("--secure-port=%d", c.ports.api),
			"--endpoint-reconciler-type=none", "--cert-dir=" + c.file("apiserver"), "--service-cluster-ip-range=10.0.0.0/24",
			"--authorization-mode=RBAC", "--token-auth-file=" + c.file("tokens.csv"),
			"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + c.file("accounts.pub"),
			"--service-account-signing-key-file=" + c.file("accounts.key"),
			"--disable-admission-plugins=ServiceAccount", // pods need no account that a controller makes later
			"--audit-policy-file=" + c.file("audit.yaml"), "--audit-log-path=" + c.file("audit.log"),
			"--profiling=false",
		}
	case "kube-controller-manager":
		return append(controller, "--service-account-private-key-file="+c.file("accounts.key"),
			"--concurrent-replicaset-syncs=20")
	case "kube-scheduler":
		return controller
	case "kwok":
		return []string{
			"--config=" + c.file("kwok.yaml"), "--kubeconfig=" + c.kubeconfig, "--manage-all-nodes=true",
			"--node-ip=127.0.0.1", "--node-port=0",
			"--node-lease-duration-seconds=40", // renewed in time, or the nodes count as lost
		}
	}
	panic("kubetest: no arguments are known for " + name)
}
