//go:build linux

package payload_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"salve/internal/hotfix/payload"
)

// TestADocumentOfNumbers once took 2 GiB and 27 s, and wrote 113 MiB into an event.
func TestADocumentOfNumbers(t *testing.T) {
	document := []byte("write_files:\n" + strings.Repeat("- 1\n", 2_000_000))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := payload.Parse(t.Context(), document, allowed)
	runtime.ReadMemStats(&after)
	if err == nil || len(err.Error()) > 200 {
		t.Errorf("it says %.300v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > uint64(2*len(document)) {
		t.Errorf("it took %d MiB", took>>20)
	}
}

// TestTheContextEndsParsing between any two files.
func TestTheContextEndsParsing(t *testing.T) {
	full := base64.StdEncoding.EncodeToString(gzipped(strings.Repeat("\x00", payload.MaxFile)))
	var document strings.Builder
	document.WriteString("write_files:\n")
	for i := range payload.MaxTotal / payload.MaxFile {
		fmt.Fprintf(&document, "- {path: /opt/azure/%d, encoding: gz+b64, content: %s}\n", i, full)
	}
	why := errors.New("the budget is used up")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := payload.Parse(ctx, []byte(document.String()), allowed); !errors.Is(err, why) {
		t.Errorf("it says %v", err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > payload.MaxFile {
		t.Errorf("it took %d MiB", took>>20)
	}
}
