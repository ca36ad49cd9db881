package check_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/manifest"
)

func TestReal(t *testing.T) {
	parts := strings.Split(os.Getenv("REAL"), ",") // root,config,jobs,manifests
	if len(parts) < 4 {
		t.Skip()
	}
	f := os.DirFS(parts[0])
	given := check.Facts{Now: config.Load(f, config.Files{Config: parts[1], Jobs: parts[2]}), Options: check.Options{Now: time.Now(), MaximumAge: time.Hour}}
	if parts[3] != "" {
		given.Manifests = manifest.Read(f, parts[3], "")
	}
	r, err := check.Run(given)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range r.Findings {
		fmt.Printf("%s %s %s %s\n   %s\n     %s\n     mend %s\n", x.Severity, x.Rule, x.Position, x.Subject, x.Message, strings.Join(x.Evidence, "\n     "), x.Mend)
	}
	for _, v := range r.Verdicts {
		if v.Reason != "" {
			fmt.Println(v.Rule, v.Severity, v.Reason)
		}
	}
	if given.Manifests != nil {
		fmt.Println(len(given.Manifests.Components), "components", given.Manifests.Files, "files")
	}
	fmt.Println(len(given.Now.Partial().Jobs()), "jobs")
}
