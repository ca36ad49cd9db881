package check_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/finding"
	"salve/internal/prow/manifest"
)

var kubernetes = flag.Bool("kubernetes", false, "check the configuration of Kubernetes' own Prow (make prow-real)")

// TestQuietOnKubernetes checks what the Prow of Kubernetes was configured to do in three years, offline. What is found
// is right, and was looked at: until somebody set allow_disabled_policies, branchprotector failed on the branches that
// have settings and no protection; the fields that Prow drops are in the wrong place; the deploy job applies hook. All
// else would be noise.
func TestQuietOnKubernetes(t *testing.T) {
	if !*kubernetes {
		t.Skip("downloads 25 MB from the module proxy: make prow-real")
	}
	for _, test := range []struct {
		version, sha256 string
		jobs            int
		want            map[string]int
	}{
		{"v0.0.0-20210730160938-8ad9b8c53bd8", "7a5b22e29d72cf4b32ec3e28fea2af76c3ff21f6e789fd9d2155246769c09440", 2315,
			map[string]int{"ALERT C1": 1, "WARN unknown-field": 20}},
		{"v0.0.0-20230424142502-4981841b2f74", "fa72f3745b21422b499dfff830e629094b0f1f2996205dacab022db7d508b3dc", 2874,
			map[string]int{"ALERT C1": 1, "ALERT policy-error": 19}},
		{"v0.0.0-20250329100633-7758a586d30c", "f5abb2689aa12b3f2680d165f24576aef4a3255ee877b5abcac14d0e613e0d6d", 3312,
			map[string]int{}},
	} {
		t.Run(test.version, func(t *testing.T) {
			files := module(t, "k8s.io/test-infra", test.version, test.sha256)
			now := config.Load(files, config.Files{Config: "config/prow/config.yaml", Jobs: "config/jobs"})
			if now.Incomplete() || now.Refused() || len(now.Partial().Jobs()) != test.jobs {
				t.Fatalf("%d jobs, not %d: %v", len(now.Partial().Jobs()), test.jobs, now.Diagnostics)
			}
			result, err := check.Run(check.Facts{Now: now, Manifests: manifest.Read(files, "config/prow/cluster", ""),
				Options: check.Options{Now: time.Now(), MaximumAge: time.Hour}})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int{}
			for _, f := range result.Findings {
				if f.Severity.AtLeast(finding.Warn) && f.Severity != finding.Unknown {
					got[fmt.Sprintf("%s %s", f.Severity, f.Rule)]++
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s\n%v", diff, result.Findings)
			}
		})
	}
}

// module is the files of a Go module, from the module proxy.
func module(t *testing.T, path, version, sum string) fs.FS {
	t.Helper()
	proxies, err := exec.CommandContext(t.Context(), "go", "env", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	proxy := strings.FieldsFunc(string(proxies), func(r rune) bool { return strings.ContainsRune(",|\n", r) })[0]
	ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, proxy+"/"+path+"/@v/"+version+".zip", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(io.LimitReader(answer.Body, 64<<20))
	if err != nil {
		t.Fatal(err)
	}
	if got := sha256.Sum256(content); hex.EncodeToString(got[:]) != sum {
		t.Fatalf("%s: %d bytes with SHA-256 %x, not %s", answer.Status, len(content), got, sum)
	}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Sub(archive, path+"@"+version)
	if err != nil {
		t.Fatal(err)
	}
	return files
}
