package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/utils/clock"

	"salve/internal/kubetest"
	"salve/internal/prow/finding"
	"salve/internal/prow/githubsim"
	"salve/kube"
)

// TestPollsOfGitHub: a watch polls where flags lead to GitHub, with what the flags give.
func TestPollsOfGitHub(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, map[string]string{"config.yaml": strings.Replace(protectionConfig, "{protect: true}",
		"{protect: true, required_status_checks: {contexts: [cla]}}", 1), "checks.txt": "cla\n"})
	sim := githubsim.New(githubsim.Options{})
	sim.Update(func(github *githubsim.World) {
		github.Token("ghp_fortests", "root")
		repo := github.Repo("kube/widgets")
		repo.Collaborators = map[string]string{"root": "admin"}
		repo.Branch("main").Protection = githubsim.Require("cla", "docs", "unit")
	})
	address, stop, err := sim.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	plane := kubetest.Start(t)
	own, err := kube.Open(plane.Kubeconfig(), "", clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	a := &app{lookup: func(name string) string {
		return map[string]string{"GITHUB_TOKEN": "ghp_fortests", "GITHUB_API_URL": address}[name]
	}}
	files := prowFiles{config: filepath.Join(folder, "config.yaml")}
	polls := func(arguments ...string) (*prowPolls, error) {
		polls, flags := &prowPolls{}, pflag.NewFlagSet("watch", pflag.ContinueOnError)
		polls.addFlags(flags)
		if err := flags.Parse(arguments); err != nil {
			t.Fatal(err)
		}
		return polls, polls.validate()
	}
	for _, wrong := range [][]string{{"--base", "main"}, {"--external-checks", "f"}, {"--github-every", "59s"}} {
		if _, err := polls(wrong...); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}

	none, err := polls()
	if poller, made := none.poller(t.Context(), a, files, own, nil); poller != nil || made != nil || err != nil {
		t.Errorf("without a flag: %v (%v, %v)", poller, made, err)
	}
	asked, err := polls("--github", "--external-checks", filepath.Join(folder, "checks.txt"))
	if err != nil {
		t.Fatal(err)
	}
	poller, err := asked.poller(t.Context(), a, files, own, nil)
	if err != nil {
		t.Fatal(err)
	}
	found, verdicts := poller.Poll(t.Context())
	if len(found) != 1 || found[0].Rule != "B3" || found[0].Severity != finding.Alert {
		t.Errorf("%+v", found)
	}
	for _, verdict := range verdicts {
		if verdict.Rule == "B2" && verdict.Severity != finding.OK {
			t.Errorf("%+v", verdict)
		}
	}
}
