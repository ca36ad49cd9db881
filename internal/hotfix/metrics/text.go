//go:build linux

package metrics

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// family is a metric with its samples. All of them are gauges.
type family struct {
	name, help string
	samples    []sample
}

type sample struct {
	labels []label
	value  float64
}

type label struct{ name, value string }

// encode writes the families that have samples, in the text format:
// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
func encode(families []family) []byte {
	var text bytes.Buffer
	for _, one := range families {
		if len(one.samples) == 0 {
			continue
		}
		fmt.Fprintf(&text, "# HELP %s %s\n# TYPE %[1]s gauge\n", one.name, escaped(one.help))
		for _, s := range one.samples {
			text.WriteString(one.name)
			var labels []string
			for _, l := range s.labels {
				labels = append(labels, l.name+`="`+strings.ReplaceAll(escaped(l.value), `"`, `\"`)+`"`)
			}
			if len(labels) > 0 {
				text.WriteString("{" + strings.Join(labels, ",") + "}")
			}
			text.WriteString(" " + strconv.FormatFloat(s.value, 'g', -1, 64) + "\n")
		}
	}
	return text.Bytes()
}

// escaped is as much as a help and a label have in common.
func escaped(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, ""), `\`, `\\`)
	return strings.ReplaceAll(text, "\n", `\n`)
}

// Write puts a text in a file's place, whole or not at all. The collector reads what ends in .prom; what is
// half-written has another name. It does not wait for the disk.
func Write(path string, text []byte) (err error) {
	if filepath.Ext(path) != ".prom" {
		return fmt.Errorf("%s: its name has to end in .prom, or no collector reads it", path)
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Chmod(0o644) // the collector is another user
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // the error that is returned matters more
	}
	return err
}
