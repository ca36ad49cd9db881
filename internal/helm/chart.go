package helm

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	helmregistry "helm.sh/helm/v4/pkg/registry"

	"salve/internal/registry"
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
	return chartOf("chart "+folder, read)
}

// Packaged is a chart in a registry: https://helm.sh/docs/topics/registries/#helm-chart-manifest
func Packaged() registry.Artifact {
	return registry.Artifact{
		Config: helmregistry.ConfigMediaType, Largest: largestPackage,
		Layers: []string{helmregistry.ChartLayerMediaType, helmregistry.LegacyChartLayerMediaType},
	}
}

// largestPackage is Helm's own bound on all files of a chart.
const largestPackage = 100 << 20

// ReadPackage reads a chart that was packaged; called is what messages call it.
func ReadPackage(called string, packaged []byte) (Chart, error) {
	read, err := loader.LoadArchive(bytes.NewReader(packaged))
	if err != nil {
		return Chart{}, fmt.Errorf("loading chart %s: %w", called, err)
	}
	return chartOf("chart "+called, read)
}

// chartOf keeps the files of a chart, if it is complete.
func chartOf(called string, read *chartv2.Chart) (Chart, error) {
	chart := Chart{Name: read.Name(), Version: read.Metadata.Version}
	for _, file := range read.Raw {
		chart.files = append(chart.files, &archive.BufferedFile{Name: file.Name, ModTime: file.ModTime, Data: file.Data})
	}
	slices.SortFunc(chart.files, func(a, b *archive.BufferedFile) int { return strings.Compare(a.Name, b.Name) })
	loaded, err := chart.load()
	if err != nil {
		return Chart{}, fmt.Errorf("loading %s: %w", called, err)
	}
	if err := complete(loaded); err != nil {
		return Chart{}, fmt.Errorf("%s: %w", called, err)
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
