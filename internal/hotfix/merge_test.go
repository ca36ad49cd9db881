package hotfix_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/hotfix"
)

func TestMerge(t *testing.T) {
	const current = "202604.01.3"
	for name, row := range map[string]struct {
		file, served string
		want         string // the file afterwards; empty where it stays as it is
		reason       hotfix.Reason
	}{
		"a map takes the place of a map": {
			file:   `{"version":"x", "hotfixes": {"202604.01":"202604.01.4"}, "more": [1, 2]}` + "\n",
			served: `{"hotfixes":{"202604.01":"202604.01.7"}}`,
			want:   `{"version":"x", "hotfixes": {"202604.01":"202604.01.7"}, "more": [1, 2]}` + "\n",
			reason: hotfix.ReasonInstall,
		},
		"the served map is kept whole": {
			file:   `{"hotfixes":null}`,
			served: `{"hotfixes":{"202604.01":"202604.01.7", "202603.01":null}}`,
			want:   `{"hotfixes":{"202604.01":"202604.01.7", "202603.01":null}}`,
			reason: hotfix.ReasonInstall,
		},
		"a file without a map gets one": {
			file:   "{\n  \"version\": \"202604.01.4\",\n  \"scripts_version\": \"202604.01.5\"\n}\n",
			served: `{"hotfixes":{"202604.01":"202604.01.7"}}`,
			want: "{\n  \"version\": \"202604.01.4\",\n  \"scripts_version\": " +
				"\"202604.01.5\",\"hotfixes\":{\"202604.01\":\"202604.01.7\"}\n}\n",
			reason: hotfix.ReasonInstall,
		},
		"an empty object": {
			file: "{ }", served: `{"hotfixes":{"202604.01":"202604.01.7"}}`,
			want:   `{"hotfixes":{"202604.01":"202604.01.7"} }`,
			reason: hotfix.ReasonInstall,
		},
		"no file": {
			served: `{"hotfixes":{"202604.01":"202604.01.7"}}`,
			want:   `{"hotfixes":{"202604.01":"202604.01.7"}}` + "\n",
			reason: hotfix.ReasonInstall,
		},
		"a file that is no pointer": {
			file: `{"version":`, served: `{"hotfixes":{"202604.01":"202604.01.7"}}`,
			want:   `{"hotfixes":{"202604.01":"202604.01.7"}}` + "\n",
			reason: hotfix.ReasonInstall,
		},
		"a field that is there twice remains once": {
			file:   `{"hotfixes":{}, "version":"x", "hotfixes":{}, "hotfixes":[], "last":1}`,
			served: `{"hotfixes":{"202604.01":"202604.01.7"}}`,
			want:   `{"hotfixes":{"202604.01":"202604.01.7"}, "version":"x", "last":1}`,
			reason: hotfix.ReasonInstall,
		},
		"an entry of none withdraws": {
			file: `{"version":"202604.01.9"}`, served: `{"hotfixes":{"202604.01":""}}`,
			want:   `{"version":"202604.01.9","hotfixes":{"202604.01":""}}`,
			reason: hotfix.ReasonExplicitlyNone,
		},
		"a map for other bases leaves a version in force": {
			file: `{"version":"202604.01.9"}`, served: `{"hotfixes":{"202603.01":"202603.01.7"}}`,
			reason: hotfix.ReasonBaseNotListed,
		},
		"a map for other bases leaves an entry in force": {
			file: `{"hotfixes":{"202604.01":"202604.01.9"}}`, served: `{"hotfixes":{"202603.01":"202603.01.7"}}`,
			reason: hotfix.ReasonBaseNotListed,
		},
		"an empty map": {file: `{"version":"202604.01.9"}`, served: `{"hotfixes":{}}`,
			reason: hotfix.ReasonNoVersion},
		"no map":  {file: `{"version":"202604.01.9"}`, served: `{}`, reason: hotfix.ReasonNoVersion},
		"nothing": {file: `{"version":"202604.01.9"}`, served: " \n", reason: hotfix.ReasonEmptyPointer},
		"a served version is no map": {file: `{}`, served: `{"version":"202604.01.9","scripts_version":"202604.01.9"}`,
			reason: hotfix.ReasonNoVersion},
		"a served map that is no map": {file: `{}`, served: `{"hotfixes":["202604.01.9"]}`,
			reason: hotfix.ReasonMalformedPointer},
		"a served map that came twice": {file: `{}`, served: `{"hotfixes":{},"hotfixes":{"202604.01":"202604.01.7"}}`,
			reason: hotfix.ReasonMalformedPointer},
		"what is no JSON": {file: `{}`, served: `<html>`, reason: hotfix.ReasonMalformedPointer},
		"a malformed entry": {file: `{"version":"202604.01.9"}`, served: `{"hotfixes":{"202604.01":"v7"}}`,
			reason: hotfix.ReasonTargetMalformed},
		"an entry that came twice": {file: `{}`,
			served: `{"hotfixes":{"202604.01":"202604.01.7","202604.01":"202604.01.8"}}`, reason: hotfix.ReasonTargetMalformed},
		"an entry of another base": {file: `{}`, served: `{"hotfixes":{"202604.01":"202604.02.7"}}`,
			reason: hotfix.ReasonBaseMismatch},
		"an entry that is not higher": {file: `{"hotfixes":{"202604.01":"202604.01.9"}}`,
			served: `{"hotfixes":{"202604.01":"202604.01.3"}}`, reason: hotfix.ReasonNotHigher},
	} {
		t.Run(name, func(t *testing.T) {
			merged, err := hotfix.Merge(current, []byte(row.file), []byte(row.served))
			if err != nil {
				t.Fatal(err)
			}
			if merged.Served.Reason != row.reason {
				t.Errorf("reason %s, want %s", merged.Served.Reason, row.reason)
			}
			if diff := cmp.Diff(row.want, string(merged.Document)); diff != "" {
				t.Errorf("the file (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAMergeThatWouldMakeTheFileUnreadableIsRefused(t *testing.T) {
	served := `{"hotfixes":{"202604.01":"202604.01.7","x":"` + strings.Repeat("x", hotfix.MaxPointerSize/2) + `"}}`
	file := `{"more":"` + strings.Repeat("x", hotfix.MaxPointerSize*3/4) + `"}`
	merged, err := hotfix.Merge("202604.01.3", []byte(file), []byte(served))
	if err == nil || merged.Document != nil {
		t.Errorf("%d bytes, %v", len(merged.Document), err)
	}
}

// TestAMergeThatWouldBringScriptsIsRefused: a file that was too large decided nothing. A small map in the place of its
// own would make the rest of it count.
func TestAMergeThatWouldBringScriptsIsRefused(t *testing.T) {
	file := `{"scripts_version":"202604.01.9","hotfixes":{"x":"` + strings.Repeat("x", hotfix.MaxPointerSize) + `"}}`
	merged, err := hotfix.Merge("202604.01.3", []byte(file), []byte(`{"hotfixes":{"202604.01":"202604.01.7"}}`))
	if err == nil || merged.Document != nil {
		t.Errorf("the file is %q, %v", merged.Document, err)
	}
}

// FuzzMerge holds the rule: what a node decides afterwards is what it was served,
// where that can be followed, and what it decided before in every other case. Its
// scripts and all other fields stay as they were.
func FuzzMerge(f *testing.F) {
	for _, seed := range [][3]string{
		{"202604.01.3", `{"version":"202604.01.9"}`, `{"hotfixes":{"202603.01":"202603.01.7"}}`},
		{"202604.01.3", `{"hotfixes":{"202604.01":"202604.01.4"},"scripts_version":"202604.01.8"}`,
			`{"hotfixes":{"202604.01":"202604.01.7"}}`},
		{"202604.01.3", `{"hotfixes":{},"hotfixes":{},"a":1}`, `{"hotfixes":{"202604.01":null}}`},
		{"202604.01.3", `{`, `{"hotfixes":{"202604.01":" 202604.01.7-a "}}`},
		{"x", ``, `{"hotfixes":{"202604.01":"202604.01.7"}}`},
		{"202604.01.3", ` { "h\u006ftfixes" : { } } `,
			` { "hotfixes" : {"202604.01":"202604.01.7"} , "version":"202604.01.9"}`},
	} {
		f.Add(seed[0], []byte(seed[1]), []byte(seed[2]))
	}
	f.Fuzz(func(t *testing.T, current string, file, served []byte) {
		merged, err := hotfix.Merge(current, file, served)
		if err != nil || merged.Document == nil {
			return
		}
		after, err := hotfix.ParsePointer(merged.Document)
		if err != nil {
			t.Fatalf("the file can't be read any more: %v", err)
		}
		before, _ := hotfix.ParsePointer(file)
		got, had := hotfix.Decide(current, after), hotfix.Decide(current, before)
		if got.Reason != merged.Served.Reason || got.Wanted() != merged.Served.Wanted() {
			t.Errorf("decides %s %q, was served %s %q", got.Reason, got.Wanted(), merged.Served.Reason, merged.Served.Wanted())
		}
		if got.Reason != hotfix.ReasonInstall && got.Reason != hotfix.ReasonExplicitlyNone {
			t.Errorf("a file was written for %s", got.Reason)
		}
		if diff := cmp.Diff(had.Scripts, got.Scripts); diff != "" {
			t.Errorf("the scripts changed: %s", diff)
		}
		if beforeFields, ok := fieldsBut(file, "hotfixes"); ok {
			afterFields, _ := fieldsBut(merged.Document, "hotfixes")
			if !bytes.Equal(beforeFields, afterFields) {
				t.Errorf("other fields were\n%s\nand are\n%s", beforeFields, afterFields)
			}
		}
	})
}

// fieldsBut lists the fields of an object with their values as written, in order.
func fieldsBut(raw []byte, but string) ([]byte, bool) {
	if _, err := hotfix.ParsePointer(raw); err != nil {
		return nil, false
	}
	var out bytes.Buffer
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if _, err := decoder.Token(); err != nil {
		return nil, false
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, false
		}
		if name != but {
			out.WriteString(name.(string) + "\x00")
			out.Write(value)
			out.WriteByte('\n')
		}
	}
	return out.Bytes(), true
}

// TestMergeNeverWidensACanary: the live service replaces what is for all, and nothing of the canaries. The version that
// a canary is for stays with its nodes, whatever is served; what is taken back is taken back from them too.
func TestMergeNeverWidensACanary(t *testing.T) {
	const file = `{"hotfixes": {"202604.01": "202604.01.2"}, "canaries": {"202604.01": {"version": "202604.01.3", "percent": 10}}}`
	for name, row := range map[string]struct{ served, early, late string }{
		"another version for all":           {`{"hotfixes": {"202604.01": "202604.01.2-u2"}}`, "202604.01.3", "202604.01.2-u2"},
		"the canary's version for all":      {`{"hotfixes": {"202604.01": "202604.01.3"}}`, "202604.01.3", "not-in-canary"},
		"a later version for all":           {`{"hotfixes": {"202604.01": "202604.01.4"}}`, "202604.01.4", "202604.01.4"},
		"none":                              {`{"hotfixes": {"202604.01": ""}}`, "explicitly-none", "explicitly-none"},
		"another base":                      {`{"hotfixes": {"202605.01": "202605.01.3"}}`, "202604.01.3", "202604.01.2"},
		"a canary of the service's own":     {`{"canaries": {"202604.01": {"version": "202604.01.4", "percent": 100}}}`, "202604.01.3", "202604.01.2"},
		"canaries beside what is for all":   {`{"hotfixes": {"202604.01": "202604.01.2"}, "canaries": {}}`, "202604.01.3", "202604.01.2"},
		"a broken canary beside it":         {`{"hotfixes": {"202604.01": "202604.01.2"}, "canaries": 7}`, "202604.01.3", "202604.01.2"},
		"a canary in the place of versions": {`{"hotfixes": {"202604.01": {"version": "202604.01.4", "percent": 100}}}`, "202604.01.3", "202604.01.2"},
	} {
		t.Run(name, func(t *testing.T) {
			merged, err := hotfix.Merge(early.Version, []byte(file), []byte(row.served))
			check(t, err)
			after := string(merged.Document)
			if merged.Document == nil {
				after = file
			}
			expectFor(t, early, after, row.early)
			expectFor(t, late, after, row.late)
		})
	}
}
