package chat_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/report/chat"
)

const postmortems = "../../../../shared/triage/postmortems/"

// TestChatsOfRealPostMortemsAreRead: the counts were made by reading the documents.
func TestChatsOfRealPostMortemsAreRead(t *testing.T) {
	cases := []struct {
		name    string
		zone    string
		authors map[string]int
		spots   map[int]string
	}{
		{"2019-01-23.md", "", map[string]int{}, nil},
		{"2019-02-05.md", "PST", map[string]int{"Katharine": 25, "stevekuznetsov": 21, "bentheelder": 6, "prow": 1},
			map[int]string{113: "Katharine 2019-02-05T16:27:00Z", 181: "prow 2019-02-05T17:12:00Z",
				310: "Katharine 2019-02-05T19:27:00Z"}},
		{"2019-02-08.md", "PST", map[string]int{"krzyzacy": 14, "Katharine": 10, "cblecker": 1, "bentheelder": 5,
			"stevekuznetsov": 16, "fejta": 5},
			map[int]string{98: "krzyzacy 2019-02-08T21:46:00Z", 181: "krzyzacy 2019-02-09T01:04:00Z",
				347: "krzyzacy 2019-02-09T01:59:00Z"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			raw, err := os.ReadFile(postmortems + c.name)
			if os.IsNotExist(err) {
				t.Skip("../shared/triage is not there: the post-mortems are not read")
			}
			export, err := chat.Parse(raw, chat.Options{})
			if err != nil {
				t.Fatal(err)
			}
			authors, spots := map[string]int{}, map[int]string{}
			for _, m := range export.Messages {
				authors[m.Author]++
				if c.spots[m.Line] != "" {
					spots[m.Line] = m.Author + " " + m.At.UTC().Format("2006-01-02T15:04:05Z")
				}
				if m.At.IsZero() {
					t.Errorf("line %d has no instant", m.Line)
				}
			}
			if diff := cmp.Diff(c.authors, authors); diff != "" {
				t.Error(diff)
			}
			if len(c.spots) > 0 && !cmp.Equal(c.spots, spots) {
				t.Error(cmp.Diff(c.spots, spots))
			}
			if export.Zone != c.zone && c.zone != "" || len(export.Questions) != 0 {
				t.Errorf("zone %q, questions %v", export.Zone, export.Questions)
			}
		})
	}
}
