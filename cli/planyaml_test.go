package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// awkward are texts that readers of YAML take for something else when they aren't quoted, or that emitters break.
var awkward = []string{
	"", " ", "yes", "No", "y", "on", "null", "~", "true", "1", "1e3", "0x1f", "0o7", "1_000", ".5", "12:30:45",
	"2026-11-22",
	"a: b", "a #b", "# a", "- a", "? a", "*a", "&a", "!a", "%a", "@a", "`a", "<<", "=", "|", ">", "a\nb", "a\n", "\na", "a\tb",
	"a\r\nb", "\u2028", "\u00a0", "\ufeff", "<b>&", `"`, `'`, `\`, "{", "[", "é", "🚀", "\x00", "\x1b[31m", "a  b", "a ",
	strings.Repeat("word ", 60) + "end",
}

// TestPlansInYAML: what is read is what was written, to the byte, also by another reader.
func TestPlansInYAML(t *testing.T) {
	written, err := json.Marshal(map[string]any{
		"strings": awkward, "empty": map[string]any{}, "none": []any{}, "nothing": nil, "whether": true,
		"numbers": []json.Number{"0", "-1", "12345678901234567890123", "0.10", "1E+2"},
		"yes":     []any{map[string]any{"a": []any{[]any{"b"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := yamlOf(written)
	if err != nil {
		t.Fatal(err)
	}
	read, err := jsonOf(text)
	if err != nil || !bytes.Equal(read, written) {
		t.Errorf("%v\n%s\nwas\n%s", err, read, written)
	}
	if _, err := jsonOf(bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))); err != nil {
		t.Errorf("with the ends of lines of Windows: %v", err)
	}
	var other struct {
		Strings []string `json:"strings"`
	}
	if err := yaml.Unmarshal(text, &other); err != nil {
		t.Fatal(err)
	}
	for i, want := range awkward {
		if other.Strings[i] != want {
			t.Errorf("another reader has %q for %q", other.Strings[i], want)
		}
	}
}

// TestOnlyYAMLThatWasWrittenIsRead: another spelling of the same may be another thing to another reader.
func TestOnlyYAMLThatWasWrittenIsRead(t *testing.T) {
	for name, text := range map[string]string{
		"quotes":         "a: 'b'\n",
		"flow":           "{a: b}\n",
		"a comment":      "a: b # c\n",
		"an anchor":      "a: &x b\n",
		"an alias":       "a: &x b\nc: *x\n",
		"a merge":        "a: &x {b: c}\nd:\n  <<: *x\n",
		"a tag":          "a: !!binary YQ==\n",
		"a number's tag": "a: !!str 1\n",
		"a name's kind":  "1: b\n",
		"base 16":        "a: 0x10\n",
		"old truth":      "a: yes\n",
		"a tilde":        "a: ~\n",
		"no end of line": "a: b",
		"a second":       "a: b\n---\nc: d\n",
		"a list as name": "? [a]\n: b\n",
		"nothing":        "",
	} {
		if read, err := jsonOf([]byte(text)); err == nil {
			t.Errorf("%s: read as %s", name, read)
		}
	}
	if read, err := jsonOf([]byte("a: b\n")); err != nil || string(read) != `{"a":"b"}` {
		t.Errorf("%s, %v", read, err)
	}
}

func TestDigestsOfPlans(t *testing.T) {
	whole := strings.Repeat("0123456789abcdef", 4)
	for text, valid := range map[string]bool{
		whole: true, strings.ToUpper(whole): true, whole[:12]: true, whole[:11]: false, whole + "0": false,
		"plan.json":      false,
		whole[:11] + "g": false, "": false,
	} {
		if err := checkDigest(text); (err == nil) != valid {
			t.Errorf("%q: %v", text, err)
		}
	}
	if !beginsDigest(strings.ToUpper(whole[:12]), whole) || beginsDigest("1"+whole[1:12], whole) {
		t.Error("a digest is named by its beginning, and by nothing else")
	}
}
