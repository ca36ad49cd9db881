package cli

import (
	"fmt"
	"io"
	"os"

	"salve/internal/textencoding"
)

// largestDocument bounds a file that a flag or an argument names, in bytes: a device without an end must not fill
// the memory.
const largestDocument = 64 << 20

// readBounded reads a file of at most limit bytes; a larger one is an error.
func readBounded(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", path, err)
	case int64(len(content)) > limit:
		return nil, fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return content, nil
}

// readText reads a file as readBounded does, as UTF-8: PowerShell's > writes UTF-16.
func readText(path string, limit int64) ([]byte, error) {
	raw, err := readBounded(path, limit)
	if err != nil {
		return nil, err
	}
	text, err := textencoding.UTF8(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}
