package grouping_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"salve/internal/triage/grouping"
)

// outside holds data of other projects, none of which may be in this repository.
const outside = "../../../../shared/triage/"

// TestKubernetesTextsAreOneGroup: one failure on four clouds and kind, at lines that moved, on nodes of any name.
func TestKubernetesTextsAreOneGroup(t *testing.T) {
	raw, err := os.ReadFile(outside + "k8s-triage/same-cluster.json")
	if err != nil {
		t.Skip("the outside data isn't here:", err)
	}
	var same struct{ Messages []string }
	if err := json.Unmarshal(raw, &same); err != nil {
		t.Fatal(err)
	}
	if len(same.Messages) != 5 {
		t.Fatalf("%d texts, not 5", len(same.Messages))
	}
	first := grouping.Identify(grouping.Failure{Text: same.Messages[0]})
	for _, text := range same.Messages {
		for how, failure := range map[string]grouping.Failure{
			"text": {Text: text}, "message": {Message: text}, "both": {Message: strings.Split(text, "\n")[0], Text: text},
		} {
			if got := grouping.Identify(failure); got.Key != first.Key {
				t.Errorf("as %s: %s\n%+v\n%+v", how, text, got, first)
			}
		}
	}
}

// checkedFiles are the files of sample lines that were checked by the exact literal of a signature, with its number:
// the files are named after an older numbering. The truth is the signature.
var checkedFiles = map[string]string{
	"1229475": "1218391", "1232748": "1235486", "1239856": "1239637", "1284371": "1284371", "1217734": "1251784",
}

// TestSampleLinesAreGroupedBySignature, by their keys alone, and with the merges that Merger proposes.
func TestSampleLinesAreGroupedBySignature(t *testing.T) {
	var truth, keys, messages []string
	for _, record := range sampleLines(t) {
		if signature, checked := checkedFiles[record.Bug]; checked {
			identity := grouping.Identify(grouping.Failure{Text: record.text})
			truth = append(truth, signature)
			keys = append(keys, string(identity.Key))
			messages = append(messages, identity.Message)
		}
	}
	if len(truth) != 474 {
		t.Fatalf("%d lines, not 474", len(truth))
	}
	for how, got := range map[string][]string{"keys": keys, "merged": patterns(messages)} {
		f1 := pairwise(truth, got)
		t.Logf("%s: %d lines of %d signatures in %d groups, pairwise F1 %.4f", how, len(truth), distinct(truth),
			distinct(got), f1)
		if f1 < 0.95 {
			t.Errorf("%s: F1 %.4f", how, f1)
		}
	}
}

type sampleLine struct {
	Bug     string
	Message json.RawMessage
	text    string
}

func sampleLines(t testing.TB) []sampleLine {
	var lines []sampleLine
	eachLine(t, "elastic-recheck/sample-lines.jsonl.gz", func(raw []byte) {
		var line sampleLine
		if err := json.Unmarshal(raw, &line); err != nil {
			t.Fatal(err)
		}
		var parts []string
		if json.Unmarshal(line.Message, &line.text) != nil {
			if err := json.Unmarshal(line.Message, &parts); err != nil {
				t.Fatal(err)
			}
			line.text = strings.Join(parts, "\n")
		}
		lines = append(lines, line)
	})
	return lines
}

// eachLine gives the lines of a compressed file of outside data.
func eachLine(t testing.TB, path string, visit func([]byte)) {
	t.Helper()
	file, err := os.Open(outside + path)
	if err != nil {
		t.Skip("the outside data isn't here:", err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(unpacked)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		visit(scanner.Bytes())
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
}

// pairwise is F1 over the pairs that are in one group.
func pairwise(truth, got []string) float64 {
	both, inTruth, inGot := 0, 0, 0
	for i := range truth {
		for j := range i {
			if truth[i] == truth[j] {
				inTruth++
			}
			if got[i] == got[j] {
				inGot++
				if truth[i] == truth[j] {
					both++
				}
			}
		}
	}
	return 2 * float64(both) / float64(inTruth+inGot)
}

func distinct(values []string) int {
	set := map[string]bool{}
	for _, value := range values {
		set[value] = true
	}
	return len(set)
}
