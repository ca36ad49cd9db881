package record_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/triage"
	"salve/internal/triage/cause"
	"salve/internal/triage/decision"
	"salve/internal/triage/record"
	"salve/internal/triage/replay"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// outage is a triage of a bad cluster: 30 of its 40 scenarios fail, and none of 60 others.
func outage(t *testing.T) record.Triage {
	t.Helper()
	rows := &cause.Rows{
		Attributes: []cause.Attribute{{Name: "cluster", Values: []string{"", "a", "b"}}}, Values: make([][]uint32, 1),
	}
	for i := range 100 {
		outcome, cluster := cause.Passed, uint32(2)
		if i < 40 {
			cluster = 1
		}
		if i < 30 {
			outcome = 1
		}
		rows.Outcomes, rows.Tests = append(rows.Outcomes, outcome), append(rows.Tests, i)
		rows.Values[0] = append(rows.Values[0], cluster)
	}
	return triaged(t, decision.Evidence{
		Observed: decision.Observed{
			Counts: triage.Counts{Scenarios: 100, Tests: 100, Passed: 70, Failed: 30},
			Ways: []decision.Way{{
				Key: "g1-a", Message: "not ready", Failures: 30, Scenario: "TestA", Finished: 30, Producers: []string{"test"},
			}},
			Scenarios: decision.Count(rows, nil, triage.Default()),
		},
		Past: decision.Past{Now: noon, History: decision.NoHistory, Hours: 24},
	})
}

// triaged decides on evidence.
func triaged(t *testing.T, e decision.Evidence) record.Triage {
	t.Helper()
	examined, err := decision.Examine(e.Observed, triage.Default())
	if err != nil {
		t.Fatal(err)
	}
	return record.Triage{
		Program: "v1 abc", Architecture: "amd64", Build: "17", Created: noon, Thresholds: triage.Default(), Evidence: e,
		Examined: examined, Decision: decision.DecideExamined(e, examined, triage.Default()),
	}
}

func written(t *testing.T, of record.Triage) (raw []byte, leftOut []string) {
	t.Helper()
	raw, leftOut, err := record.Write(of)
	if err != nil {
		t.Fatal(err)
	}
	return raw, leftOut
}

// TestARecordIsReadBack as it was written, compressed or not: by what it was decided, what was, and from what.
func TestARecordIsReadBack(t *testing.T) {
	of := outage(t)
	raw, leftOut := written(t, of)
	packed, err := record.Pack(raw)
	if err != nil || len(packed) >= len(raw) || len(leftOut) > 0 {
		t.Fatalf("%d of %d bytes, left out %q: %v", len(packed), len(raw), leftOut, err)
	}
	want := record.Recorded{
		Program: "v1 abc", Architecture: "amd64", Build: "17", Created: noon, Thresholds: triage.Default().Values(),
	}
	for name, file := range map[string][]byte{"plain": raw, "packed": packed} {
		back, err := record.Read(file)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, back.Recorded); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		said, err := back.Said.Decision()
		if err != nil || said.Verdict != triage.KnownInfrastructure || len(said.Groups) != 1 || said.Groups[0].Key != "g1-a" {
			t.Errorf("%s: %v: %+v", name, err, said)
		}
		again, err := decision.Decide(*back.Evidence, triage.Default())
		if err != nil || again.Verdict != triage.KnownInfrastructure {
			t.Errorf("%s: %s, %v", name, again.Verdict, err)
		}
		if !record.Is(file) || record.Is(file[:10]) {
			t.Errorf("%s: is a record: %v, its beginning: %v", name, record.Is(file), record.Is(file[:10]))
		}
	}
	for _, other := range []string{"", "{}\n", `{"kind":"salve.incident","version":1}` + "\n", "\x1f\x8b\n"} {
		if record.Is([]byte(other)) {
			t.Errorf("%q is a record", other)
		}
	}
}

// resealed is a body with a first line that fits it.
func resealed(version int, body string) []byte {
	sum := sha256.Sum256([]byte(body))
	return fmt.Appendf(nil, `{"kind":"salve.triage-record","version":%d,"build":"","sha256":"%s"}`+"\n%s", version,
		hex.EncodeToString(sum[:]), body)
}

// TestARecordThatWasSpoiledIsRefused with a line that says why: cut, edited, of a newer version, or none at all.
func TestARecordThatWasSpoiledIsRefused(t *testing.T) {
	raw, _ := written(t, outage(t))
	packed, err := record.Pack(raw)
	if err != nil {
		t.Fatal(err)
	}
	huge, err := record.Pack(bytes.Repeat([]byte(" "), record.MaxSize+1))
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(raw), "\n")
	replace := func(old, by string) []byte { return bytes.Replace(raw, []byte(old), []byte(by), 1) }
	inBody := func(old, by string) []byte { return resealed(1, strings.Replace(body, old, by, 1)) }
	random := make([]byte, 1000)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	for name, row := range map[string]struct {
		file []byte
		want string
	}{
		"empty":                        {nil, "first line"},
		"garbage":                      {random, "first line"},
		"JSON of another kind":         {replace(`salve.triage-record`, `salve.other`), "first line"},
		"one line only":                {raw[:bytes.IndexByte(raw, '\n')], "first line"},
		"of a newer version":           {resealed(2, body), "hint: use the version of salve that wrote it"},
		"of no version":                {resealed(0, body), "version 0"},
		"a verdict was edited":         {replace(`known-infrastructure`, `suspected-change`), "does not match its hash"},
		"a threshold was edited":       {replace(`"eligible":3`, `"eligible":2`), "does not match its hash"},
		"the evidence was cut":         {raw[:len(raw)-10], "does not match its hash"},
		"the packed file was cut":      {packed[:len(packed)/2], "unexpected EOF"},
		"the packed file is none":      {[]byte{0x1f, 0x8b, 0}, "EOF"},
		"larger than any":              {huge, "larger than"},
		"larger than any, not packed":  {bytes.Repeat([]byte(" "), record.MaxSize+1), "larger than"},
		"a line less":                  {resealed(1, "{}\n"), "lines"},
		"a line more":                  {resealed(1, body+"{}\n"), "lines"},
		"no line feed at the end":      {resealed(1, strings.TrimSuffix(body, "\n")), "lines"},
		"its second line is no JSON":   {resealed(1, "x\n{}\n"), "its second line: invalid character"},
		"nothing was decided":          {resealed(1, "{}\n{}\n"), "does not have what was decided"},
		"a group that is none":         {inBody(`"groups":[{`, `"groups":["x",{`), "of group 1"},
		"a run that is none":           {inBody(`"said":{"run":{`, `"said":{"run":7,"x":{`), "what was decided of the run"},
		"its third line is no JSON":    {inBody(`{"evidence":`, `{"evidence":}`), "its third line"},
		"evidence of another form":     {inBody(`"counts":{`, `"counts":7,"other":{`), "its third line"},
		"it contradicts itself":        {inBody(`"failures":30,"scenario"`, `"failures":31,"scenario"`), "31 failures, and 30 scenarios"},
		"a signature that it lacks":    {inBody(`"shows":null`, `"shows":[{"signature":0,"failures":1,"inText":0}]`), "signature 0 of 0"},
		"groups of ways that it lacks": {inBody(`"examined":null`, `"examined":{"with":{},"groups":[]}`), "way 0 is in no group"},
	} {
		_, err := record.Read(row.file)
		var invalid *record.InvalidError
		if !errors.As(err, &invalid) || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, row.want)
		}
	}
}

// TestEvidenceThatLacksAFieldIsNoError: what was decided can be read, and what is lacking is named.
func TestEvidenceThatLacksAFieldIsNoError(t *testing.T) {
	raw, _ := written(t, outage(t))
	_, body, _ := strings.Cut(string(raw), "\n")
	back, err := record.Read(resealed(1, strings.Replace(body, `"finished":30,`, "", 1)))
	if err != nil || back.Evidence != nil || back.Lacks != "observed.ways[0].finished" || back.Said.Run == nil {
		t.Errorf("%v: %+v", err, back)
	}
}

// small is a body with a bit of everything.
const small = `{"recorded":{"program":"p","thresholds":{"eligible":3}},"said":{"run":{"verdict":"new"},"groups":[{"key":"a"}]}}
{"evidence":{"observed":{"counts":{"scenarios":4,"tests":4,"passed":2,"failed":2,"skipped":0,"flaky":0},"aborted":null,` +
	`"baselines":[3,null],"change":{"files":1,"components":["a"],"at":"2026-11-20T12:00:00Z"},"ways":[{"key":"a","message":"m",` +
	`"failures":2,"scenario":"s","place":"p","finished":1,"recovered":0,"insisted":1,"first":null,"touched":1,"touchedAt":"p",` +
	`"producers":["test"],"shows":[{"signature":0,"failures":2,"inText":2}]}],"signatures":[{"id":"i","title":"t","class":"c",` +
	`"owner":"","links":[],"action":"","validUntil":"","expired":false,"passing":0,"escalation":{"count":2,"days":3},` +
	`"producers":["p"]}],"scenarios":{"attributes":[{"name":"cluster","values":["x"]}],"rareBelow":3,"outcomes":[0,1],` +
	`"reach":[1,2],"values":[[1,-1]],"tests":[[2,0,1]]}},"past":{"now":"2026-11-20T12:00:00Z","history":"asked","hours":24,` +
	`"runs":[{"question":{"ways":[0],"signature":"i","mayReach":false,"without":[]},"spans":[{"hours":1,"runs":2,"of":9,` +
	`"failed":1,"change":"c"}]}],"occurrences":[{"key":"a","signature":"i","rule":{"count":2,"days":3,"calm":1},"count":1,` +
	`"escalated":false,"first":"2026-11-20T12:00:00Z","times":[]}],"sizes":{"days":30,"runs":5,"fewest":9}},"examined":null}}
`

// FuzzAnyBytesAreARecordOrRefused: whatever the file holds, reading it ends in an answer.
func FuzzAnyBytesAreARecordOrRefused(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(`{"recorded":{"thresholds":{}},"said":{"run":{},"groups":[]}}` + "\n" + `{"evidence":null}` + "\n"))
	f.Add([]byte(`{"recorded":{"thresholds":{"eligible":1e99}},"said":{"run":{},"groups":[{}]}}` + "\n" +
		`{"evidence":{"observed":{},"past":{},"examined":null}}` + "\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, file := range [][]byte{body, resealed(1, string(body))} {
			back, err := record.Read(file)
			if err != nil {
				continue
			}
			for _, program := range []string{"p", "another"} {
				options := replay.Options{Program: program, Set: []replay.Setting{{Name: "risk-ratio", Value: "3"}}}
				if result, err := replay.Replay(back, options); err == nil && result.Verdict == "" {
					t.Errorf("%s: no verdict", program)
				}
			}
		}
	})
}

// many is a run with more kinds of scenarios, ways of failing and answers than a record has room for.
func many(t *testing.T, kinds, ways, spans int) record.Triage {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	rows := &cause.Rows{Attributes: make([]cause.Attribute, 10), Values: make([][]uint32, 10)}
	for a := range rows.Attributes {
		rows.Attributes[a] = cause.Attribute{Name: fmt.Sprint("attribute", a), Values: []string{""}}
		for v := range 60 {
			rows.Attributes[a].Values = append(rows.Attributes[a].Values, fmt.Sprint("value", v))
		}
	}
	e := decision.Evidence{
		Observed: decision.Observed{
			Counts: triage.Counts{Scenarios: kinds + ways, Tests: kinds + ways, Passed: kinds, Failed: ways},
			Change: &decision.Change{Files: 1},
		},
		Past: decision.Past{Now: noon, History: decision.Asked, Hours: 24},
	}
	for i := range kinds + ways {
		outcome := cause.Passed
		if i < ways {
			outcome = cause.Outcome(i + 1)
			text := make([]byte, 24)
			for i := range text {
				text[i] = byte(random.Uint32())
			}
			key := fmt.Sprintf("g1-%016x", random.Uint64())
			e.Observed.Ways = append(e.Observed.Ways, decision.Way{
				Key: key, Message: hex.EncodeToString(text), Failures: 1, Finished: 1, Producers: []string{"test"},
			})
			answer := decision.Answer{Question: decision.Question{Ways: []int{i}}}
			for range spans {
				answer.Spans = append(answer.Spans, decision.Span{Hours: 1, Runs: random.IntN(1e9), Of: random.IntN(1e9)})
			}
			e.Past.Runs = append(e.Past.Runs, answer)
			e.Past.Occurrences = append(e.Past.Occurrences, decision.Occurrences{
				Key: key, Rule: decision.Rule{Count: 6, Days: 30, Calm: 3}, Count: 1,
			})
		}
		rows.Outcomes, rows.Tests = append(rows.Outcomes, outcome), append(rows.Tests, i)
		for a := range rows.Values {
			rows.Values[a] = append(rows.Values[a], uint32(random.IntN(61)))
		}
	}
	e.Observed.Scenarios = decision.Count(rows, nil, triage.Default())
	return triaged(t, e)
}

// TestARecordIsBounded whatever the run: what is left out is told, and lacking when it is replayed.
func TestARecordIsBounded(t *testing.T) {
	for name, row := range map[string]struct {
		kinds, ways, spans int
		leftOut            []string // a part of each reason
		lacks              string   // of the decision made again; empty for nothing
		most               int      // bytes, compressed
	}{
		"a usual one":        {300, 3, 3, nil, "", 20 << 10},
		"too many scenarios": {40_000, 3, 3, []string{"40003 scenarios take"}, "", 64 << 10},
		"too many answers": {300, 30, 2000, []string{"answers about earlier runs take"},
			"what runs of other changes show of group", 64 << 10},
		"too many ways of failing": {300, 9000, 0, []string{"9000 ways of failing take"}, "-", 512 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			of := many(t, row.kinds, row.ways, row.spans)
			raw, leftOut := written(t, of)
			packed, err := record.Pack(raw)
			if err != nil || len(packed) > row.most {
				t.Errorf("%d bytes: %v", len(packed), err)
			}
			for i, reason := range row.leftOut {
				if len(leftOut) != len(row.leftOut) || !strings.Contains(leftOut[i], reason) {
					t.Errorf("left out %q, want %q", leftOut, row.leftOut)
				}
			}
			back, err := record.Read(packed)
			if err != nil {
				t.Fatal(err)
			}
			if row.lacks == "-" {
				if back.Evidence != nil || !strings.Contains(back.Lacks, "ways of failing take") {
					t.Errorf("lacks %q", back.Lacks)
				}
				return
			}
			again, err := decision.Decide(*back.Evidence, triage.Default())
			if err != nil || !strings.Contains(again.Lacks, row.lacks) || row.lacks == "" && again.Lacks != "" {
				t.Fatalf("lacks %q, want %q: %v", again.Lacks, row.lacks, err)
			}
			if row.lacks == "" {
				sameSaid(t, of.Decision, again)
			}
		})
	}
}

func sameSaid(t *testing.T, then, now decision.Decision) {
	t.Helper()
	var raw [2][]byte
	for i, d := range []decision.Decision{then, now} {
		said, err := record.Say(d)
		if err != nil {
			t.Fatal(err)
		}
		if raw[i], err = json.Marshal(said); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(raw[0], raw[1]) {
		t.Errorf("said\n%s\nand again\n%s", raw[0][:min(2000, len(raw[0]))], raw[1][:min(2000, len(raw[1]))])
	}
}

// TestOfVeryManyGroupsTheVerdictsAreKept and the first ones whole.
func TestOfVeryManyGroupsTheVerdictsAreKept(t *testing.T) {
	of := many(t, 300, 230, 1)
	raw, _ := written(t, of)
	back, err := record.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	said, err := back.Said.Decision()
	if err != nil || len(back.Said.Groups) != 200 || len(back.Said.Rest) != 30 || len(said.Groups) != 230 {
		t.Fatalf("%v: %d groups, %d and %d", err, len(said.Groups), len(back.Said.Groups), len(back.Said.Rest))
	}
	for i, g := range said.Groups {
		if want := of.Decision.Groups[i]; g.Key != want.Key || g.Verdict != want.Verdict || g.Confidence != want.Confidence {
			t.Errorf("group %d: %+v", i, g)
		}
	}
}
