package check

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"salve/internal/prow/config"
	"salve/internal/prow/finding"
	"salve/internal/prow/manifest"
)

// releases compares the components of each release with each other.
func (f *facts) releases() (finding.List, finding.Lack) {
	set := f.Manifests
	if len(set.Components) == 0 {
		return nil, failed("no component of Prow found in %s", set.Folder)
	}
	var found finding.List
	lack := allManifests(f)
	releases := releasesOf(set.Components)
	for _, components := range releases {
		namespace := components[0].Namespace
		found = append(found, images(namespace, components)...)
		sources, unsure := f.sources(namespace, components, len(releases) == 1)
		found = append(found, sources...)
		if unsure != nothing() {
			lack = unsure
		}
	}
	return found, lack
}

// releasesOf are the components that are released together: those of one namespace, for a folder may hold several
// instances. Where a workload stands there twice, those of one folder are. Where it does in one folder, and each file
// has several components, those of one file are: examples, as those of Kubernetes beside what it deploys.
func releasesOf(components []manifest.Component) [][]manifest.Component {
	var releases [][]manifest.Component
	for _, namespace := range grouped(components, func(c manifest.Component) string { return c.Namespace }) {
		if !repeated(namespace) {
			releases = append(releases, namespace)
			continue
		}
		for _, folder := range grouped(namespace, func(c manifest.Component) string { return path.Dir(c.Position.File) }) {
			files := grouped(folder, func(c manifest.Component) string { return c.Position.File })
			alone := slices.ContainsFunc(files, func(file []manifest.Component) bool { return len(file) == 1 })
			if repeated(folder) && !alone {
				releases = append(releases, files...)
			} else {
				releases = append(releases, folder)
			}
		}
	}
	return releases
}

func grouped(components []manifest.Component, by func(manifest.Component) string) [][]manifest.Component {
	groups := map[string][]manifest.Component{}
	for _, c := range components {
		groups[by(c)] = append(groups[by(c)], c)
	}
	var all [][]manifest.Component
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		all = append(all, groups[key])
	}
	return all
}

// repeated is whether one workload stands twice.
func repeated(components []manifest.Component) bool {
	type workload struct{ kind, object, name string }
	seen := map[workload]bool{}
	for _, c := range components {
		w := workload{c.Kind, c.Object, c.Name}
		if seen[w] {
			return true
		}
		seen[w] = true
	}
	return false
}

// images are the versions of the core components, which are released together. The
// others are often left on a version that works. Digests can't be compared: each
// program has its own.
func images(namespace string, components []manifest.Component) finding.List {
	versions := map[string][]string{}
	first := map[string]manifest.Component{}
	for _, c := range components {
		if !c.Core || c.Image.Digest != "" && c.Image.Tag == "" {
			continue
		}
		version := c.Image.Tag
		if version == "" {
			version = "latest"
		}
		if _, ok := first[version]; !ok {
			first[version] = c
		}
		versions[version] = append(versions[version], c.Name)
	}
	if len(versions) < 2 {
		return nil
	}
	byCount := slices.SortedFunc(maps.Keys(versions), func(a, b string) int {
		if len(versions[a]) != len(versions[b]) {
			return len(versions[b]) - len(versions[a])
		}
		return strings.Compare(a, b)
	})
	var evidence []string
	for _, version := range byCount {
		evidence = append(evidence, fmt.Sprintf("%s: %s (%s)", version,
			strings.Join(slices.Compact(slices.Sorted(slices.Values(versions[version]))), ", "), first[version].Position))
	}
	odd := first[byCount[len(byCount)-1]]
	return finding.List{{Severity: finding.Warn, Position: odd.Position,
		Subject:  finding.Subject{Namespace: namespace, Detail: "images"},
		Message:  fmt.Sprintf("components of one release have %d versions", len(versions)),
		Evidence: evidence, Mend: "bring them to one version"}}
}

// sources are where components take config.yaml from. Different ones are ALERT where
// both are known and name other namespaces; where they are not known, that is UNKNOWN.
func (f *facts) sources(namespace string, components []manifest.Component, only bool) (finding.List, finding.Lack) {
	by := map[string][]manifest.Component{}
	for _, c := range components {
		if c.Config != nil {
			by[c.Config.String()] = append(by[c.Config.String()], c)
		}
	}
	pairs := map[string]string{} // the pair of namespaces by source
	lack := nothing()
	names := slices.Sorted(maps.Keys(by))
	for _, name := range names {
		if resolved := f.resolve(by[name][0].Config); resolved != "" {
			pairs[name] = resolved
		} else if len(names) > 1 {
			lack = failed("the namespaces in %s are not known, which %s reads", name, by[name][0].Name)
		}
	}
	reference := ""
	if only && f.now != nil {
		reference = pairOf(f.now.Config)
	} else if len(names) > 0 {
		reference = pairs[names[0]]
	}
	var found finding.List
	for _, name := range names {
		if pairs[name] == "" || reference == "" || pairs[name] == reference {
			continue
		}
		readers := namesOf(by[name])
		found = append(found, finding.Finding{Severity: finding.Alert, Position: by[name][0].Position,
			Subject:  finding.Subject{Namespace: namespace, Component: readers[0], Detail: name},
			Message:  fmt.Sprintf("%s would have other namespaces than the rest", strings.Join(readers, ", ")),
			Evidence: []string{name + ": " + pairs[name], "the rest: " + reference},
			Mend:     "let all components of a release read one configuration"})
	}
	return found, lack
}

// resolve is the pair of namespaces in a ConfigMap of the manifests; empty where they
// don't have it.
func (f *facts) resolve(source *manifest.Source) string {
	data, ok := f.Manifests.ConfigMaps[source.ConfigMap]
	if !ok || source.Key == "" {
		return ""
	}
	content, ok := data.Data[source.Key]
	if !ok {
		return ""
	}
	loaded := config.Parse("config.yaml", []byte(content))
	if loaded.Incomplete() {
		return ""
	}
	return pairOf(loaded.Partial())
}

func pairOf(c *config.Config) string {
	return fmt.Sprintf("ProwJobs in %s, pods in %s", c.ProwJobNamespace.Value, c.PodNamespace.Value)
}

func namesOf(components []manifest.Component) []string {
	var names []string
	for _, c := range components {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
