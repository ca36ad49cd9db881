package recreatepool_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"salve/internal/azuresim"
	"salve/internal/report"
	"salve/journal"
)

var update = flag.Bool("update", false, "write the golden transcripts anew")

// width is that of the golden transcripts, in characters.
const width = 110

// TestScenariosEndAsTheySay runs every scenario and compares what people would
// read, plan and timeline, with the golden transcript.
func TestScenariosEndAsTheySay(t *testing.T) {
	for _, name := range azuresim.Names() {
		t.Run(name, func(t *testing.T) {
			scenario := load(t, name)
			var transcript bytes.Buffer
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, scenario, journal.NewFile(t.TempDir()))
				defer s.world.Close()
				s.writePlan(&transcript)
				result, err := s.run(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if string(result.Outcome) != scenario.Expect {
					t.Errorf("ended %s, not %s: %s", result.Outcome, scenario.Expect, result.Reason)
				}
				s.writeRuns(&transcript)
			})
			compare(t, filepath.Join("testdata", "transcripts", name+".txt"), transcript.Bytes())
		})
	}
}

// writePlan writes what «salve plan» would show.
func (s *stage) writePlan(out *bytes.Buffer) {
	s.t.Helper()
	fmt.Fprintf(out, "%s: %s\n", s.scenario.Name, s.scenario.Shows)
	for _, book := range s.runbooks() {
		result, err := s.engine().Plan(context.Background(), book, s.options())
		if err != nil {
			s.t.Fatal(err)
		}
		fmt.Fprintf(out, "\nPLAN for %s\n\n", book.Target.Name)
		s.must(report.Findings(out, width, result.Findings))
		if result.Plan != nil {
			fmt.Fprintln(out)
			s.must(report.Plan(out, width, *result.Plan))
		}
		if result.Outcome != "" {
			fmt.Fprintf(out, "\nIt would end %s: %s\n", result.Outcome, result.Reason)
		}
	}
}

// writeRuns writes the timelines of all runs, from their journals.
func (s *stage) writeRuns(out *bytes.Buffer) {
	s.t.Helper()
	records, err := journal.Find(context.Background(), s.journal, func(*journal.History) bool { return true },
		func(run string, err error) { s.t.Error(run, err) })
	s.must(err)
	for _, record := range records {
		fmt.Fprintf(out, "\nRUN on %s\n\n", record.Header.Target.Name)
		s.must(report.Timeline(out, width, record.History))
	}
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func compare(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if difference := cmp.Diff(string(want), string(got)); difference != "" {
		t.Errorf("%s differs (-want +got; go test -update writes it anew):\n%s", file, difference)
	}
}
