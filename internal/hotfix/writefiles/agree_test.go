package writefiles_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// writer writes random documents as people and programs write them.
type writer struct {
	*rand.Rand
	strings.Builder
}

func (w *writer) one(of ...string) string { return of[w.IntN(len(of))] }

// content is a text of few lines, odd ones among them.
func (w *writer) content() string {
	var text strings.Builder
	for range w.IntN(6) {
		for range w.IntN(5) {
			text.WriteString(w.one("a", "b c", "#!/bin/sh", " ", "  ", "#", ": ", ":", "- ", "'", "\"", "\\", "\t", "|", "{",
				"]", "&x", "*x", "!", "%", "@", "yes", "0644", "~", "é", "日本", "\x00", "\u2028", "---", "...", "=", ","))
		}
		text.WriteString(w.one("\n", "\n", "\n\n", ""))
	}
	return text.String()
}

// scalar writes a text in one of YAML's ways that can carry it, in an entry whose
// fields are so far in.
func (w *writer) scalar(text string, column int) string {
	inner := strings.Repeat(" ", column+1+w.IntN(3))
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	plain := !strings.ContainsAny(text, "\x00\u2028")
	switch style := w.IntN(6); {
	case style == 0 && plain && text != "" && strings.Trim(text, "\n") != "" && !strings.ContainsAny(text[:1], " \t\n"):
		chomp, ends := "", len(text)-len(strings.TrimRight(text, "\n"))
		switch {
		case ends == 0:
			chomp = "-"
		case ends > 1:
			chomp = "+"
		}
		var block strings.Builder
		block.WriteString("|" + chomp + w.one("", "  ", " # why") + "\n")
		for _, line := range lines {
			block.WriteString(inner + line + "\n")
		}
		return block.String()
	case style == 1 && plain && !strings.ContainsAny(text, "\t"):
		// A line feed is an empty line more; spaces at it would be lost.
		joined := strings.ReplaceAll(text, "'", "''")
		if strings.Contains(joined, " \n") || strings.Contains(joined, "\n ") {
			break
		}
		return "'" + strings.ReplaceAll(joined, "\n", "\n\n"+inner) + "'" + w.one("", " ", " # why") + "\n"
	case style == 2 && plain:
		node := yaml.Node{Kind: yaml.ScalarNode, Value: text, Style: yaml.Style(w.IntN(6)), Tag: "!!str"}
		raw, err := yaml.Marshal(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "x"},
			&node}})
		if err == nil {
			_, value, _ := strings.Cut(string(raw), "x: ")
			return strings.ReplaceAll(strings.TrimSuffix(value, "\n"), "\n", "\n"+strings.Repeat(" ", column)) + "\n"
		}
	case style == 3:
		return "!!binary " + base64.StdEncoding.EncodeToString([]byte(text+"x")) + "\n"
	case style == 4 && plain && strings.Trim(text, "abc \n") == "" && strings.TrimSpace(text) != "" &&
		!strings.ContainsAny(text, "\n"):
		return strings.Join(strings.Fields(text), w.one(" ", "\n"+inner)) + w.one("", "  ", " # why") + "\n"
	}
	quoted, _ := json.Marshal(text) // a text always can be
	spaces := strings.NewReplacer("\\u0026", "&", " ", w.one(" ", "\\ ", " "))
	return spaces.Replace(string(quoted)) + w.one("", " # why") + "\n"
}

func (w *writer) document() string {
	w.WriteString(w.one("", "#cloud-config\n", "---\n", "--- # begin\n", "\n# a\n\n"))
	w.WriteString("write_files:" + w.one("", " ", " # files") + "\n")
	outer := strings.Repeat(" ", w.IntN(3))
	for range 1 + w.IntN(3) {
		dash := outer + "-" + strings.Repeat(" ", 1+w.IntN(3))
		column := len(dash)
		fields := []string{"path", "content", "owner", "encoding", "permissions"}
		w.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
		for i, name := range fields[:1+w.IntN(5)] {
			if i == 0 {
				w.WriteString(dash)
			} else {
				w.WriteString(w.one("", "", "\n", "# b\n", strings.Repeat(" ", column)+"# c\n") + strings.Repeat(" ", column))
			}
			text := w.one("/opt/azure/a", "root", "gzip", "0644", "0755")
			if name == "content" {
				text = w.content()
			}
			w.WriteString(w.one(name, name, "'"+name+"'", name+" ") + ": " + w.scalar(text, column))
		}
	}
	w.WriteString(w.one("", "\n", "# end\n", "...\n"))
	return w.String()
}

// TestDocumentsAreReadAsByTheLibrary, nearly all that are written here.
func TestDocumentsAreReadAsByTheLibrary(t *testing.T) {
	read := 0
	for seed := range uint64(20_000) {
		w := &writer{Rand: rand.New(rand.NewPCG(seed, 1))}
		document := w.document()
		if agree(t, []byte(document)) == nil {
			read++
		}
	}
	t.Logf("%d read", read)
	if read < 19_500 {
		t.Errorf("only %d of 20,000 were read", read)
	}
}

// pieces are put together to what is nearly a document.
func pieces(choices []byte) []byte {
	words := []string{"write_files:", "\n", "\n", "\n", "\n- ", "\n  ", "\n    ", " ", "path: ", "content: ",
		"owner:", "/a",
		"b c",
		"'", "\"", "|", ">", "-", "+", "2", "#", " # d", ":", ": ", ",", "{", "}", "[", "]", "\\", "\\\n", "\\n", "!!binary ", "!!str ",
		"&a ", "*a", "---", "...", "?", "~", "yes", "YQ==", "\t", "\n\n", "\n- path: ", "\n  content: ", "|\n    e\n", ">-\n    f\n", "{path: /g}",
		"'h'", "\"i\"", "%", "<<", "=", "1", "\\x41", "''", "é"}
	made := []byte("write_files:\n- path: /a\n  content: ")
	if len(choices) > 0 && choices[0]%3 == 0 {
		made = []byte("write_files: ")
	}
	for _, choice := range choices {
		made = append(made, words[int(choice)%len(words)]...)
	}
	return append(made, '\n')
}

func TestPiecesAreReadAsByTheLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	read := 0
	for range 200_000 {
		choices := make([]byte, 1+random.IntN(14))
		for i := range choices {
			choices[i] = byte(random.IntN(256))
		}
		if agree(t, pieces(choices)) == nil {
			read++
		}
	}
	if read < 2000 {
		t.Errorf("only %d of 200,000 were read: the pieces try too little", read)
	}
	t.Logf("%d read", read)
}

// TestDocumentsAreReadAsByPython: cloud-init reads them with PyYAML.
func TestDocumentsAreReadAsByPython(t *testing.T) {
	if exec.Command("python3", "-c", "import yaml").Run() != nil {
		t.Skip("python3 with yaml is not installed")
	}
	var documents []string
	var read [][]map[string]string
	for seed := range uint64(3000) {
		w := &writer{Rand: rand.New(rand.NewPCG(seed, 2))}
		document := w.document()
		if entries, err := ours([]byte(document)); err == nil {
			documents, read = append(documents, document), append(read, entries)
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 60_000 {
		choices := make([]byte, 1+random.IntN(14))
		for i := range choices {
			choices[i] = byte(random.IntN(256))
		}
		if entries, err := ours(pieces(choices)); err == nil {
			documents, read = append(documents, string(pieces(choices))), append(read, entries)
		}
	}
	input, err := json.Marshal(documents)
	if err != nil {
		t.Fatal(err)
	}
	python := exec.Command("python3", "-c", `
import base64, json, sys, yaml
def text(v):
    raw = v if isinstance(v, bytes) else v.encode() if isinstance(v, str) else b"!" + repr(v).encode()
    return base64.b64encode(raw).decode()
def entries(d):
    try: return [{k: text(v) for k, v in e.items()} for e in yaml.safe_load(d)["write_files"] or []]
    except Exception as e: return repr(e)
print(json.dumps([entries(d) for d in json.load(sys.stdin)]))`)
	python.Stdin = bytes.NewReader(input)
	output, err := python.Output()
	if err != nil {
		t.Fatal(err)
	}
	var theirs []any
	if err := json.Unmarshal(output, &theirs); err != nil {
		t.Fatal(err)
	}
	for i, document := range documents {
		for _, entry := range read[i] {
			for name, value := range entry {
				entry[name] = base64.StdEncoding.EncodeToString([]byte(value))
			}
		}
		if fmt.Sprint(read[i]) != fmt.Sprint(theirs[i]) {
			t.Errorf("read as   %v\nby Python %v\n%q", read[i], theirs[i], document)
		}
	}
	t.Logf("%d documents", len(documents))
}

func FuzzAgreesWithTheLibrary(f *testing.F) {
	for seed := range uint64(50) {
		w := &writer{Rand: rand.New(rand.NewPCG(seed, 5))}
		f.Add([]byte(w.document()))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { _ = agree(t, raw) })
}

func FuzzPiecesAgreeWithTheLibrary(f *testing.F) {
	f.Add([]byte{40, 7, 41, 10, 44, 12, 42, 43})
	f.Fuzz(func(t *testing.T, choices []byte) { _ = agree(t, pieces(choices)) })
}
