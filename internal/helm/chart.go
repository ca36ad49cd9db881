package helm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

// Chart is the files of one, as they were when it was read.
type Chart struct {
	Name, Version string
	files         []*archive.BufferedFile
}

// ReadChart reads the chart in a folder: what its .helmignore names is left out.
func ReadChart(folder string) (Chart, error) {
	read, err := loader.LoadDir(folder)
	if err != nil {
		return Chart{}, fmt.Errorf("loading chart %s: %w", folder, err)
	}
	chart := Chart{Name: read.Name(), Version: read.Metadata.Version}
	for _, file := range read.Raw {
		chart.files = append(chart.files, &archive.BufferedFile{Name: file.Name, ModTime: file.ModTime, Data: file.Data})
	}
	slices.SortFunc(chart.files, func(a, b *archive.BufferedFile) int { return strings.Compare(a.Name, b.Name) })
	loaded, err := chart.load()
	if err != nil {
		return Chart{}, fmt.Errorf("loading chart %s: %w", folder, err)
	}
	if err := complete(loaded); err != nil {
		return Chart{}, fmt.Errorf("chart %s: %w", folder, err)
	}
	return chart, nil
}

// complete finds dependencies that Chart.yaml names and the folder charts/ doesn't have: nothing is fetched.
func complete(chart *chartv2.Chart) error {
	for _, dependency := range chart.Metadata.Dependencies {
		there := slices.ContainsFunc(chart.Dependencies(), func(one *chartv2.Chart) bool {
			return one.Name() == dependency.Name
		})
		if !there {
			return fmt.Errorf("dependency %q is not in its folder charts/. hint: helm dependency build", dependency.Name)
		}
	}
	return nil
}

// load makes the chart anew: rendering changes it.
func (c Chart) load() (*chartv2.Chart, error) { return loader.LoadFiles(c.files) }

// Digest stands for all files of the chart, in a form that a label can have.
func (c Chart) Digest() string {
	sum := sha256.New()
	for _, file := range c.files {
		fmt.Fprintf(sum, "%q %d\n", file.Name, len(file.Data))
		_, _ = sum.Write(file.Data) // a hash takes all
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
