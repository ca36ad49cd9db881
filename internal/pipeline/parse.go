package pipeline

import (
	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
	"salve/internal/pipeline/schema"
)

// Read parses the pipeline in a file. The error says that the file could not be
// read at all; what is wrong with its content is in the list.
func Read(path string) (*File, diagnostic.List, error) { return ReadWith(path, nil) }

// ReadWith reads a pipeline that may have actions of a site's own besides those of the schema.
func ReadWith(path string, own func(action string) bool) (*File, diagnostic.List, error) {
	content, err := ReadContent(path)
	if err != nil {
		return nil, nil, err
	}
	file, found := ParseWith(path, content, own)
	return file, found, nil
}

// Parse reads a pipeline. The file that comes back is nil when it isn't a YAML
// mapping; otherwise it holds all that could be read, whatever the list says.
// Messages name the path; nothing is read from there.
func Parse(path string, content []byte) (*File, diagnostic.List) {
	return ParseWith(path, content, nil)
}

// ParseWith parses a pipeline that may have actions of a site's own besides those of the schema.
func ParseWith(path string, content []byte, own func(action string) bool) (*File, diagnostic.List) {
	root, found := templatedDocument(path, content)
	if root == nil {
		return nil, found
	}
	facts, wrong := schema.Check(path, root, nil, own)
	found = append(found, wrong...)
	found.Sort()
	if root.Kind != yaml.MappingNode {
		return nil, found
	}
	return fileOf(&reading{path: path, text: string(content), facts: facts, own: own}, root), found
}
