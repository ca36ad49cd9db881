package simulation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// text is a failure's message, with marks for what varies, where it is raised, and the signature that knows it.
type text struct {
	format    string
	file      string
	line      int
	signature string
	class     string
}

// The commonest of all: a timeout says nothing of why.
func timeout() text {
	return text{"timed out after {dur} waiting for pod {pod} to be running: context deadline exceeded", "pods.go", 88,
		"pod-not-running", "test"}
}

func outageTexts() []text {
	return []text{
		{"timed out waiting for node {node} to become ready: last condition NodeStatusUnknown ({dur})", "nodes.go", 141,
			"node-not-ready", "infrastructure"},
		{`create pod {pod}: failed calling webhook "pods.admission.e2e.io": dial tcp {ip}:443: connect: connection refused`,
			"cluster.go", 67, "admission-down", "infrastructure"},
		{"image mcr.example.io/agent:{n} was not pulled on {node}: lookup mcr.example.io on {ip}:53: i/o timeout",
			"images.go", 33, "registry-lookup", "infrastructure"},
		{"etcdserver: request timed out, possibly due to previous leader failure (request {uuid})", "cluster.go", 104,
			"etcd-leader", "infrastructure"},
		timeout(),
	}
}

func networkTexts() []text {
	return []text{
		{"Get \"https://{ip}:6443/api/v1/pods?limit={n}\": read tcp {ip}:{n}->{ip}:6443: read: connection reset by peer",
			"client.go", 52, "connection-reset", "infrastructure"},
		{"download of https://packages.example.io/{uuid}.tar.gz failed after {dur}: TLS handshake timeout",
			"packages.go", 211, "package-download", "infrastructure"},
	}
}

func regressionTexts() []text {
	return []text{
		{`expected kubelet flag "rotate-certificates" to be "true" on node {node}, found none`, "validators.go", 219, "", ""},
		{"unit {id}.service entered failed state on {node}: permission denied on /etc/agent/config.d",
			"validators.go", 57, "", ""},
		{"agent on {node} crashed: panic: runtime error: index out of range [5] with length {n}\n" +
			"\tmain.(*Installer).plan(0x{hex})\n\t\t/src/pkg/{component}/install.go:118 +0x1d4", "agent.go", 70, "", ""},
		{"mount of volume {uuid} is read-only, expected it to be writable", "volumes.go", 12, "", ""},
	}
}

func flakeTexts() []text {
	return []text{
		{"lease of node {node} was not renewed for {dur}, expected less than 40s", "leases.go", 71, "lease-late", "product"},
		{"agent reported state Degraded for {dur} while rotating its certificate {hex}", "agent.go", 160, "rotation-degraded",
			"product"},
	}
}

func noiseTexts() []text {
	return []text{
		{"unexpected event Evicted on pod {pod}: node was low on ephemeral storage", "pods.go", 190, "", ""},
		{"conflict: the object has been modified; please apply your changes to the latest version ({uuid})",
			"client.go", 130, "", ""},
		{"expected {n} replicas of deployment web, found {n}", "scale.go", 41, "", ""},
		{"ssh to {ip} failed: handshake failed: EOF", "ssh.go", 99, "", ""},
		{"disk {id} is still attached to {node} after {dur}", "disks.go", 77, "", ""},
		{"metric node_cpu_seconds_total was not scraped within {dur}", "metrics.go", 28, "", ""},
		{"quota exceeded for cores in subscription {uuid}", "quota.go", 15, "quota", "infrastructure"},
		{"log line \"kubelet started\" not found in journal of {node}", "journal.go", 63, "", ""},
		timeout(), timeout(),
	}
}

// signatures that the catalogue may have: of failures, and one that is in the way, as it shows in what passes too.
func knownTexts() []text {
	var out []text
	for _, list := range [][]text{outageTexts(), networkTexts(), flakeTexts(), noiseTexts()} {
		for _, t := range list {
			if t.signature != "" && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}

// literal is what of a text doesn't vary, the longest part.
func (t text) literal() string {
	longest := ""
	for _, part := range strings.FieldsFunc(t.format, func(r rune) bool { return r == '{' || r == '}' || r == '\n' }) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return strings.TrimSpace(longest)
}

// fill puts something into each mark.
func (g *generator) fill(t text, component string) string {
	var out strings.Builder
	rest := t.format
	for {
		before, after, found := strings.Cut(rest, "{")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		mark, tail, _ := strings.Cut(after, "}")
		out.WriteString(g.variable(mark, component))
		rest = tail
	}
}

func (g *generator) variable(mark, component string) string {
	switch mark {
	case "dur":
		return (time.Duration(g.between(20, 900)) * time.Second).String()
	case "pod":
		return fmt.Sprintf("%s-%010x-%s", pick(g, []string{"web", "probe", "debug"}), g.Uint64()&0xffffffffff, g.suffix(5))
	case "node":
		return fmt.Sprintf("aks-pool%d-%08d-vmss%06s", g.between(1, 3), g.between(10000000, 99999999),
			strconv.FormatInt(int64(g.IntN(200)), 36))
	case "ip":
		return fmt.Sprintf("10.%d.%d.%d", g.IntN(256), g.IntN(256), g.IntN(256))
	case "uuid":
		return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", g.Uint32(), g.IntN(1<<16), g.IntN(1<<12), g.IntN(1<<16),
			g.Uint64()&(1<<48-1))
	case "hex":
		return fmt.Sprintf("c000%08x", g.Uint32())
	case "id":
		return fmt.Sprintf("disk-%08x", g.Uint32())
	case "n":
		return fmt.Sprint(g.between(2, 60000))
	case "component":
		return component
	}
	return ""
}

// suffix is a name's end as Kubernetes makes them.
func (g *generator) suffix(n int) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	out := make([]byte, n)
	for i := range out {
		out[i] = letters[g.IntN(len(letters))]
	}
	return string(out)
}
