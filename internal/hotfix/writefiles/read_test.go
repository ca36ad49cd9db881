package writefiles_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"salve/internal/hotfix/writefiles"
)

// library reads a document with the library, as it was read before there was this
// package.
func library(raw []byte) ([]map[string]string, error) {
	var document struct {
		WriteFiles []struct {
			Path        *string `yaml:"path"`
			Permissions *string `yaml:"permissions"`
			Owner       *string `yaml:"owner"`
			Encoding    *string `yaml:"encoding"`
			Content     *string `yaml:"content"`
		} `yaml:"write_files"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	if err := decoder.Decode(&document); err != nil {
		return nil, err
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("a second document: %w", err)
	}
	entries := []map[string]string{}
	for _, one := range document.WriteFiles {
		entry := map[string]string{}
		for name, value := range map[string]*string{"path": one.Path, "permissions": one.Permissions, "owner": one.Owner,
			"encoding": one.Encoding, "content": one.Content} {
			if value != nil {
				entry[name] = *value
			}
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

func ours(raw []byte) ([]map[string]string, error) {
	read, err := writefiles.Read(raw, 1000)
	if err != nil {
		return nil, err
	}
	entries := []map[string]string{}
	for _, one := range read {
		entry := map[string]string{}
		for name, value := range map[string]writefiles.Text{"path": one.Path, "permissions": one.Permissions,
			"owner": one.Owner, "encoding": one.Encoding, "content": one.Content} {
			if value.Given() {
				entry[name] = value.Value
			}
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// agree fails where a document is read otherwise than by the library. It gives the
// reason of one that is not read.
func agree(t *testing.T, raw []byte) error {
	t.Helper()
	got, err := ours(raw)
	if err != nil {
		return err
	}
	want, libraryErr := library(raw)
	if libraryErr != nil {
		t.Fatalf("read, and the library says: %v\n%q", libraryErr, raw)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("got     %q\nlibrary %q\n%s\n%q", got, want, raw, raw)
	}
	return nil
}

func TestWhatIsRead(t *testing.T) {
	for title, document := range map[string]string{
		"a file":                              "write_files:\n- path: /a\n  content: b\n",
		"cloud-config's first line":           "#cloud-config\n# more\n\nwrite_files:\n- path: /a\n",
		"a document's markers":                "---\nwrite_files:\n- path: /a\n...\n# end\n",
		"a marker with a comment":             "--- # begin\nwrite_files:\n- path: /a\n",
		"no line feed at the end":             "write_files:\n- path: /a\n  content: b",
		"indented items":                      "write_files:\n    -   path: /a\n        content: b\n    -   path: /c\n",
		"a dash alone":                        "write_files:\n-\n  path: /a\n- # comment\n     path: /b\n     content: c\n",
		"comments everywhere":                 "write_files: # a\n# b\n- path: /a # c\n  # d\n  content: e # f\n    # g\n\n# h\n- path: /i\n",
		"names in quotes":                     "'write_files':\n- \"path\": /a\n  'content' : b\n",
		"a number sign that is no comment":    "write_files:\n- path: /a#b\n  content: '#c'\n",
		"colons in words":                     "write_files:\n- path: /a:b\n  owner: root:root\n  content: http://x:1/ ::y\n",
		"words over lines":                    "write_files:\n- path: /a\n  content: b\n    c\n\n\n    d: e\n"[:46] + "\n",
		"folded words":                        "write_files:\n- path: /a\n  content: b c  \n     d\n\n\n   - e\n  owner: root\n",
		"words on a line of their own":        "write_files:\n- path:\n    /a\n  content:\n\n    # why\n    b\n    c\n",
		"single quotes":                       "write_files:\n- path: '/a'\n  content: 'it''s \"b\" \\n # c: d'\n  owner: ''\n",
		"single quotes over lines":            "write_files:\n- path: '/a'\n  content: ' b  \n\n     c\n    d '\n",
		"double quotes":                       "write_files:\n- path: \"/a\"\n  content: \"it's \\\"b\\\" \\n\\t # c: d\"\n  owner: \"\"\n",
		"double quotes over lines":            "write_files:\n- path: \"/a\"\n  content: \" b  \n\n\n     c\\\n     d \\\n   \\  e\\\n\n    f\"\n",
		"quotes that are less far in":         "write_files:\n- path: 'a\nb\n\n'\n  content: \"c\\\n\n d\"\n",
		"all escapes":                         `{"write_files": [{"path": "/", "content": "\0\a\b\t\n\v\f\r\e\ \"\\\N\_\L\P\x41\u00e9\U0001F600"}]}`,
		"a literal block":                     "write_files:\n- path: /a\n  content: |\n    b\n      c\n\n    # d\n    e: f\n",
		"a literal block with empty lines":    "write_files:\n- path: /a\n  content: |\n\n   \n    b\n  \n\n    c\n\n\n  owner: root\n",
		"a literal block that ends with them": "write_files:\n- path: /a\n  content: |\n    b\n\n    \n",
		"a literal block without its end":     "write_files:\n- path: /a\n  content: |\n    b",
		"a literal block with tabs":           "write_files:\n- path: /a\n  content: |\n    b\n    \tb\n    c\td\t\n    \t\n",
		"a literal block of spaces":           "write_files:\n- path: /a\n  content: |\n    b\n      \n    c\n        \n",
		"an empty literal block":              "write_files:\n- path: /a\n  content: |\n- path: /b\n  content: |-\n- path: /c\n  content: |+\n\n\n",
		"a literal block and a comment":       "write_files:\n- path: /a\n  content: |\n    b\n   # c\n  # d\n# e\n  owner: root\n",
		"stripped":                            "write_files:\n- path: /a\n  content: |-\n    b\n\n\n  owner: root\n",
		"kept":                                "write_files:\n- path: /a\n  content: |+\n    b\n\n\n  owner: root\n",
		"an indentation":                      "write_files:\n- path: /a\n  content: |2\n      b\n    c\n  owner: root\n",
		"an indentation and what is kept":     "write_files:\n- path: /a\n  content: |+1\n   b\n- path: /b\n  content: |1-\n   b\n",
		"a comment behind the sign":           "write_files:\n- path: /a\n  content: |- # why\n    b\n",
		"a folded block":                      "write_files:\n- path: /a\n  content: >\n    b\n    c\n\n    d\n      e\n      f\n\n      g\n    h\n\n\n    i\n  owner: root\n",
		"a folded block that begins empty":    "write_files:\n- path: /a\n  content: >-\n\n\n    b\n    c\n   \n",
		"binary":                              "write_files:\n- path: /a\n  content: !!binary |\n    aGVsbG8K\n    aGVsbG8K\n  encoding: gzip\n- path: /b\n  content: !!binary aGVs\n- {path: /c, content: !!binary \"aGVs\"}\n",
		"a text that is said to be one":       "write_files:\n- path: !!str /a\n  permissions: !!str 0644\n  content: !!str yes\n",
		"in braces":                           "write_files:\n- {path: /a, permissions: '0644', content: \"b, c\"}\n- { path : /b , content: c d }\n- {path: /e,}\n",
		"in brackets":                         "write_files: [{path: /a}, {path: /b, content: \"c\nd\"},\n{path: /e} ]\n",
		"in brackets on the next line":        "write_files:\n  [{path: /a}]\n",
		"no files":                            "write_files: []\n",
		"JSON":                                "{\"write_files\":[{\"path\":\"/a\",\"content\":\"b\\n\"},{\"path\":\"/c\"}]}",
		"JSON over lines, with tabs":          "{\n\t\"write_files\": [\n\t\t{\n\t\t\t\"path\": \"/a\",\n\t\t\t\"content\": \"b\"\n\t\t}\n\t]\n}\n",
		"more than ASCII":                     "write_files:\n- path: /\u00fc\n  content: |\n    \u65e5\u672c \U0001F600\n",
		"base64 that begins like a number":    "write_files:\n- path: /a\n  content: 1234abcdW\n",
	} {
		t.Run(title, func(t *testing.T) {
			if err := agree(t, []byte(document)); err != nil {
				t.Errorf("%v\n%s", err, document)
			}
		})
	}
}

func TestWhatIsNotRead(t *testing.T) {
	entry := func(rest string) string { return "write_files:\n- path: /a\n  content: " + rest + "\n" }
	for title, row := range map[string]struct{ document, says string }{
		"nothing":                      {"", "there is no write_files"},
		"comments":                     {"#cloud-config\n", "there is no write_files"},
		"a marker alone":               {"---\n", "there is no write_files"},
		"another module":               {"runcmd: []\n", `line 1: write_files is expected, and not "runcmd"`},
		"another module behind":        {entry("b") + "runcmd: [reboot]\n", "line 4: something follows"},
		"another module, in braces":    {`{write_files: [], runcmd: []}`, `not "runcmd"`},
		"the list twice":               {"write_files: []\nwrite_files: []\n", "something follows"},
		"the list twice, in braces":    {`{write_files: [], write_files: []}`, "once"},
		"a list":                       {"- a\n", "is not expected"},
		"a word":                       {"write_files\n", "a name with a colon"},
		"no list":                      {"write_files: a\n", "has to be a list"},
		"no value":                     {"write_files:\n", "has no value"},
		"a mapping":                    {"write_files:\n  path: /a\n", "has to be a list"},
		"an indented document":         {"  write_files: []\n", "at the beginning of its line"},
		"numbers":                      {"write_files:\n- 1\n- 1\n", "line 2:"},
		"lists":                        {"write_files:\n- - a\n", "an entry has to be a mapping"},
		"an empty entry":               {"write_files:\n-\n- path: /a\n", "an entry is empty"},
		"two documents":                {entry("b") + "---\n" + entry("c"), "line 4: something follows"},
		"an empty second document":     {entry("b") + "---\n", "something follows"},
		"a document behind an end":     {entry("b") + "...\n" + entry("c"), "something follows"},
		"a directive":                  {"%YAML 1.1\n---\n" + entry("b"), `"%"`[1:2]},
		"an unknown field":             {"write_files:\n- path: /a\n  append: true\n", `line 3: the field "append" is not known`},
		"an unknown field in braces":   {"write_files: [{path: /a, defer: true}]", `"defer" is not known`},
		"a field of another case":      {"write_files:\n- Path: /a\n", `"Path" is not known`},
		"a field twice":                {"write_files:\n- path: /a\n  path: /b\n", `"path" is given twice`},
		"a merge key":                  {"write_files:\n- <<: {path: /a}\n", `"<<" is not known`},
		"an anchor":                    {entry("&a b"), `'&'`},
		"an alias":                     {entry("*a"), `'*'`},
		"an anchor of an entry":        {"write_files:\n- &a\n  path: /b\n", `'&'`},
		"another tag":                  {entry("!!int 1"), "no tags are known"},
		"a tag of its own":             {entry("!a b"), "no tags are known"},
		"a tag without a name":         {entry("! b"), "no tags are known"},
		"a tag of an entry":            {"write_files:\n- !!map\n  path: /b\n", "'!'"},
		"a tag of the list":            {"write_files: !!seq []\n", "has to be a list"},
		"an explicit name":             {"write_files:\n- ? path\n  : /a\n", "'?'"},
		"a list as a value":            {entry("[b]"), "'['"},
		"a mapping as a value":         {entry("{b: c}"), "'{'"},
		"a list below":                 {entry("\n  - b"), "has no value"},
		"a mapping below":              {entry("\n    b: c"), "is not expected"},
		"no value of a field":          {"write_files:\n- content:\n  path: /a\n", "has no value"},
		"a number":                     {entry("123"), "quotes"},
		"an octal number":              {entry("0644"), "quotes"},
		"a number of base 60":          {entry("1:30:00"), "quotes"},
		"a number with powers":         {entry("-1.5e+10"), "quotes"},
		"a date":                       {entry("2001-12-14t21:59:43.10-05:00"), "quotes"},
		"yes":                          {entry("yes"), "quotes"},
		"Off":                          {entry("Off"), "quotes"},
		"null":                         {entry("null"), "quotes"},
		"a tilde":                      {entry("~"), "quotes"},
		"not a number":                 {entry(".NaN"), "quotes"},
		"infinity":                     {entry("-.Inf"), "quotes"},
		"yes in braces":                {"write_files: [{path: /a, content: yes}]", "quotes"},
		"a tab as indentation":         {"write_files:\n-\tpath: /a\n", "line 2"},
		"a tab before a field":         {"write_files:\n- path: /a\n\tcontent: b\n", "tab"},
		"a tab in a block's place":     {entry("|\n\tb"), "tab"},
		"a carriage return":            {"write_files: []\r\n", "carriage return"},
		"a control character":          {entry("\x01"), "U+0001"},
		"a next line":                  {entry("b\u0085c"), "U+0085"},
		"a byte order mark":            {"\ufeff" + entry("b"), "U+FEFF"},
		"no UTF-8":                     {entry("\xff"), "not UTF-8"},
		"single quotes without end":    {entry("'b"), "line 3: a text in quotes has no end"},
		"double quotes without end":    {entry(`"b`), "line 3: a text in quotes has no end"},
		"quotes over a marker":         {entry("'b\n---\n'"), "no end before"},
		"something behind quotes":      {entry("'b' c"), "is not expected"},
		"a comment right behind":       {entry("'b'#c"), "is not expected"},
		"an unknown escape":            {entry(`"\q"`), `no escape \q`},
		"half an escape":               {entry(`"\x4"`), "hexadecimal"},
		"half a pair of surrogates":    {entry(`"\ud83d"`), "no character"},
		"a character that isn't there": {entry(`"\UFFFFFFFF"`), "hexadecimal"},
		"more behind a block's sign":   {entry("| b"), "sign of a block"},
		"an indentation of 0":          {entry("|0\n  b"), "sign of a block"},
		"two signs of chomping":        {entry("|+-\n    b"), "sign of a block"},
		"spaces before a block":        {entry("|\n        \n    b"), "more spaces"},
		"further in than its field":    {entry("b # c\n    d"), "is not that of"},
		"between two columns":          {"write_files:\n  - path: /a\n   - path: /b\n", "is not that of an entry"},
		"less far in than its field":   {"write_files:\n  - path: /a\n content: b\n", "is not that of"},
		"binary that is none":          {entry("!!binary '!'"), "base64"},
		"brackets without end":         {"write_files: [{path: /a}", "no end"},
		"braces without end":           {"write_files: [{path: /a", "no end"},
		"brackets over a marker":       {"write_files: [\n---\n]", "no end"},
		"no comma":                     {"write_files: [{path: /a} {path: /b}]", "a comma"},
		"two commas":                   {"write_files: [{path: /a},, {path: /b}]", "an entry"},
		"a name without value":         {"write_files: [{path}]", "a name with a colon"},
		"a value without a space":      {"write_files: [{path:/a}]", "a name with a colon"},
		"something behind brackets":    {"write_files: [] a\n", "is not expected"},
	} {
		t.Run(title, func(t *testing.T) {
			err := agree(t, []byte(row.document))
			if err == nil || !strings.Contains(err.Error(), row.says) || !strings.HasPrefix(err.Error(), "line ") {
				t.Errorf("it says %v, want %q", err, row.says)
			}
		})
	}
}

// TestItIsRefusedAtTheFirstThing: what once took 2 GiB and 27 s takes no more memory
// than the document.
func TestItIsRefusedAtTheFirstThing(t *testing.T) {
	const size = 8 << 20
	for title, document := range map[string]string{
		"numbers":         "write_files:\n" + strings.Repeat("- 1\n", size/4),
		"numbers at root": strings.Repeat("- 1\n", size/4),
		"entries":         "write_files:\n" + strings.Repeat("- {path: /a}\n", size/13),
		"entries in flow": "write_files: [" + strings.Repeat("{path: /a},", size/11) + "]",
		"brackets":        "write_files: " + strings.Repeat("[", size),
		"braces":          strings.Repeat("{", size),
		"dashes":          "write_files:\n" + strings.Repeat("- ", size/2),
		"names":           "write_files:\n- " + strings.Repeat("a", size),
		"aliases":         "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n",
	} {
		t.Run(title, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := writefiles.Read([]byte(document), 500)
			runtime.ReadMemStats(&after)
			if err == nil || len(err.Error()) > 200 {
				t.Errorf("it says %.300v", err)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > uint64(2*len(document)+1<<20) {
				t.Errorf("it took %d MiB", took>>20)
			}
		})
	}
}

// TestMemoryIsInProportion: of what is read, too.
func TestMemoryIsInProportion(t *testing.T) {
	const size = 4 << 20
	for title, content := range map[string]string{
		"a block of many lines":     "|\n" + strings.Repeat("    x\n", size/6),
		"a block of empty lines":    "|+\n" + strings.Repeat("\n", size),
		"a folded block":            ">\n" + strings.Repeat("    x\n\n", size/7),
		"single quotes of lines":    "'" + strings.Repeat("x\n\n    ", size/7) + "'\n",
		"double quotes of escapes":  `"` + strings.Repeat(`\u65e5`, size/6) + "\"\n",
		"words over many lines":     "x\n" + strings.Repeat("    x\n", size/6),
		"words and many empty ones": "x\n" + strings.Repeat("\n", size) + "    x\n",
	} {
		t.Run(title, func(t *testing.T) {
			document := "write_files:\n- path: /a\n  content: " + content
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := writefiles.Read([]byte(document), 500)
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Error(err)
			}
			// A text that grows piece by piece is copied some times.
			if took := after.TotalAlloc - before.TotalAlloc; took > uint64(12*len(document)) {
				t.Errorf("%d MiB for %d", took>>20, len(document)>>20)
			}
		})
	}
}
