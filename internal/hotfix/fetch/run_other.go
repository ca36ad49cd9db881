//go:build !linux

package fetch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
)

// run refuses: package managers of nodes are Linux's.
func run(_ context.Context, p program) (string, error) {
	return "", fmt.Errorf("running %s on %s: %w: package managers of nodes run on Linux only",
		filepath.Base(p.path), runtime.GOOS, errors.ErrUnsupported)
}
