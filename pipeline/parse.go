package pipeline

import (
	"fmt"
	"io"
	"os"

	"salve/pipeline/diagnostic"
)

// Read parses the pipeline in a file. The error says that the file could not be
// read at all; what is wrong with its content is in the list.
func Read(path string) (*File, diagnostic.List, error) {
	opened, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer opened.Close()
	// One byte more than allowed is enough to say that it is too much.
	content, err := io.ReadAll(io.LimitReader(opened, maximumSize+1))
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", path, err)
	}
	file, found := Parse(path, content)
	return file, found, nil
}

// Parse reads a pipeline. The file that comes back is nil when it isn't a YAML
// mapping; otherwise it holds all that could be read, whatever the list says.
// Messages name the path; nothing is read from there.
func Parse(path string, content []byte) (*File, diagnostic.List) {
	root, found := document(path, content)
	if root == nil {
		return nil, found
	}
	file := fileOf(path, root)
	found.Sort()
	return file, found
}
