package simulation

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// cluster is a shared one that scenarios run on.
type cluster struct {
	name, region, network string
	weight                float64
}

// component is a part of the product that some scenarios run through.
type component struct {
	name, prefix string
	tests        []string
	mode         string // it is what a bootstrap mode runs through; empty: it goes by tests
	all          bool   // every scenario runs through it
}

func regions() []string {
	return []string{"westus3", "eastus2", "northeurope", "southeastasia", "uksouth"}
}

func networks() []string { return []string{"kubenet", "azure", "overlay", "cilium"} }

// parts are the product's components, without their tests.
func parts() []component {
	return []component{
		{name: "node-controller", mode: "scriptless"}, {name: "core", all: true},
		{name: "gpu", prefix: "GPU"}, {name: "storage", prefix: "Storage"}, {name: "network-policy", prefix: "NetworkPolicy"},
		{name: "image-pull", prefix: "ImagePull"}, {name: "secure-boot", prefix: "SecureBoot"},
		{name: "kubelet-config", prefix: "Kubelet"}, {name: "proxy", prefix: "HTTPProxy"}, {name: "dns", prefix: "DNS"},
		{name: "upgrade", prefix: "Upgrade"}, {name: "windows-hns", prefix: "HNS"}, {name: "logging", prefix: "Logging"},
	}
}

// nouns are what tests are about.
func nouns() []string {
	return strings.Fields(`Install Restart Rotation Defaults Cleanup Scale Upgrade Reboot Limits Quota Taints Labels Probe
		Mount Resize Snapshot Egress Ingress Fallback Cache Proxy Dual Legacy Drain Join`)
}

func images() map[string][]string {
	return map[string][]string{
		"ubuntu2204": {"2204gen2"}, "ubuntu2404": {"2404gen2"}, "azurelinux3": {"azl3gen2", "azl3fips"},
		"flatcar": {"flatcar"},
	}
}

// fleet makes the clusters, the components, and the scenarios that run.
func (g *generator) fleet() {
	for i := range g.between(4, 9) {
		network := networks()[i%len(networks())]
		g.clusters = append(g.clusters, cluster{
			name: fmt.Sprintf("e2e-%s-%04x", network, g.IntN(1<<16)), region: pick(g, regions()), network: network,
			weight: math.Exp(1.2 * g.NormFloat64()),
		})
	}
	names := map[string]bool{}
	tests := g.tests()
	target := g.between(60, 400)
	if g.is(TinyOutage, TinyRegress) {
		target = g.between(20, 60)
		tests = tests[:min(len(tests), g.between(12, 40))]
	} else if g.is(Outage, TwoCauses, Confounded, Architecture) {
		target = max(target, 120)
	}
	for len(g.scenarios) < target {
		t := pick(g, tests)
		s := g.scenario(t)
		if names[s.name] {
			if len(names) >= 5*len(tests) {
				break
			}
			s.name += fmt.Sprintf("-%d", len(names)) // a parameter that no attribute is for
		}
		names[s.name] = true
		g.scenarios = append(g.scenarios, s)
	}
	if g.chance(0.5) { // what is of one component runs one after the other
		slices.SortStableFunc(g.scenarios, func(a, b *scenario) int { return strings.Compare(a.test, b.test) })
	}
}

// tests are those of the components, of which some have many.
func (g *generator) tests() []string {
	var tests []string
	for _, part := range parts() {
		if part.prefix != "" {
			about := nouns()
			g.Shuffle(len(about), func(i, j int) { about[i], about[j] = about[j], about[i] })
			for _, noun := range about[:min(len(about), 2+int(math.Exp(1.7+0.6*g.NormFloat64())))] {
				part.tests = append(part.tests, "Test"+part.prefix+noun)
			}
			tests = append(tests, part.tests...)
		}
		g.components = append(g.components, part)
	}
	g.Shuffle(len(tests), func(i, j int) { tests[i], tests[j] = tests[j], tests[i] })
	return tests[:min(len(tests), 200)]
}

// scenario is one of a test: where it runs and what it is made of.
func (g *generator) scenario(test string) *scenario {
	s := &scenario{test: test, values: map[string]string{}, told: map[string]bool{}, components: map[string]bool{}}
	distribution := pick(g, []string{
		"ubuntu2204", "ubuntu2204", "ubuntu2204", "ubuntu2404", "azurelinux3", "azurelinux3", "flatcar",
	})
	architecture := "amd64"
	if distribution != "flatcar" && g.chance(0.25) {
		architecture = "arm64"
	}
	bootstrap := "default"
	if g.chance(0.45) {
		bootstrap = "scriptless"
	}
	s.slow = math.Exp(0.6 * g.NormFloat64())
	s.cluster = g.cluster()
	s.values = map[string]string{
		"distribution": distribution, "architecture": architecture, "bootstrap": bootstrap,
		"image": pick(g, images()[distribution]), "cluster": s.cluster.name, "region": s.cluster.region,
	}
	parts := []string{"smoke"}
	for _, name := range []string{"distribution", "architecture", "bootstrap"} {
		if g.style.tells[name] == inName {
			parts = append(parts, s.values[name])
		}
	}
	s.name = test + "/" + strings.Join(parts[min(1, len(parts)-1):], "-")
	for _, name := range attributes() {
		told := g.style.tells[name]
		lost := 0.0
		if told == inLine { // the log ends before the line, or nobody fetched it
			lost = 0.06
		}
		s.told[name] = told != nowhere && !g.chance(lost)
	}
	for _, c := range g.components {
		s.components[c.name] = c.all || c.mode == bootstrap || slices.Contains(c.tests, test)
	}
	return s
}

// cluster is one that a scenario runs on: some have many, some few.
func (g *generator) cluster() *cluster {
	sum := 0.0
	for _, c := range g.clusters {
		sum += c.weight
	}
	at := sum * g.Float64()
	for i := range g.clusters {
		if at -= g.clusters[i].weight; at <= 0 {
			return &g.clusters[i]
		}
	}
	return &g.clusters[len(g.clusters)-1]
}

// component is one of those that go by their tests, which enough scenarios run through.
func (g *generator) component(atLeast int) *component {
	var fit []*component
	for i := range g.components {
		c := &g.components[i]
		if c.prefix != "" && g.runs(c) >= atLeast {
			fit = append(fit, c)
		}
	}
	if len(fit) == 0 {
		return &g.components[2]
	}
	return pick(g, fit)
}

func (g *generator) runs(c *component) int {
	n := 0
	for _, s := range g.scenarios {
		if s.components[c.name] {
			n++
		}
	}
	return n
}
