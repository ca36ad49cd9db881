package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// packageChart writes what helm package would, with the version of the release, and the same each time.
func packageChart(folder, version, into string, created time.Time) error {
	version = strings.TrimPrefix(version, "v")
	if version == "" {
		return errors.New("required flag -version not set")
	}
	name := filepath.Join(into, "salve-chart-"+version+".tgz")
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	err = writeChart(file, os.DirFS(folder), version, created)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("packaging chart %s: %w", folder, err)
	}
	fmt.Println(name)
	return nil
}

func writeChart(into io.Writer, chart fs.FS, version string, created time.Time) error {
	packed := gzip.NewWriter(into)
	archive := tar.NewWriter(packed)
	// WalkDir goes in lexical order.
	err := fs.WalkDir(chart, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(chart, name)
		if err != nil {
			return err
		}
		if name == "Chart.yaml" {
			content = []byte(strings.ReplaceAll(string(content), "ersion: 0.0.0\n", "ersion: "+version+"\n"))
		}
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: path.Join("salve", name), Size: int64(len(content)), Mode: 0o644, ModTime: created,
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err = archive.Write(content)
		return err
	})
	return errors.Join(err, archive.Close(), packed.Close())
}
