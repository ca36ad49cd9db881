package protector

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const (
	// largestManifest and mostManifests bound a folder: those of a Prow instance are some hundred files.
	largestManifest = 16 << 20
	mostManifests   = 20_000
)

// Declared are the CronJobs of a folder's manifests that run a branchprotector, with their images. A file that speaks
// of a branchprotector and can't be read is an error: it may be the one.
func Declared(folder string) (map[string]string, error) {
	found, read := map[string]string{}, 0
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() ||
			!slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)) {
			return err
		}
		if read++; read > mostManifests {
			return fmt.Errorf("folder %q has more than %d manifests", folder, mostManifests)
		}
		raw, err := content(path)
		if err != nil {
			return err
		}
		if !bytes.Contains(raw, []byte(program)) {
			return nil
		}
		return cronJobs(path, raw, found)
	})
	if err != nil {
		return nil, fmt.Errorf("reading the manifests: %w", err)
	}
	return found, nil
}

func content(path string) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // the user named the folder
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, largestManifest+1))
	if err == nil && len(raw) > largestManifest {
		err = fmt.Errorf("manifest %q is larger than %d bytes", path, largestManifest)
	}
	return raw, err
}

// manifest is what matters of one document.
type manifest struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec json.RawMessage `json:"spec"`
}

// schedule is the part of a CronJob's spec that holds the containers: at the same place in all versions of the API.
type schedule struct {
	JobTemplate struct {
		Spec struct {
			Template struct {
				Spec struct {
					Containers []corev1.Container `json:"containers"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	} `json:"jobTemplate"`
}

// cronJobs adds those of one file, which may hold several documents.
func cronJobs(path string, raw []byte, found map[string]string) error {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), 4096)
	for {
		var document manifest
		err := decoder.Decode(&document)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err == nil && document.Kind == "CronJob":
			err = document.addTo(found)
		}
		if err != nil {
			return fmt.Errorf("manifest %q: %w", path, err)
		}
	}
}

func (m manifest) addTo(found map[string]string) error {
	var spec schedule
	if err := json.Unmarshal(m.Spec, &spec); err != nil {
		return fmt.Errorf("CronJob %q: %w", m.Metadata.Name, err)
	}
	image, is := Image(spec.JobTemplate.Spec.Template.Spec.Containers)
	if !is {
		return nil
	}
	name := nameOf(m.Metadata.Namespace, m.Metadata.Name)
	if other, twice := found[name]; twice && other != image {
		return fmt.Errorf("duplicate %s with the images %s and %s", name, other, image)
	}
	found[name] = image
	return nil
}
