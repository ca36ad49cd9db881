package fetch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSourcesThatCheckSignatures: apt's sources in both of their forms. @KEY stands for
// a file of keys of the image.
func TestSourcesThatCheckSignatures(t *testing.T) {
	fingerprint := strings.Repeat("AB12", 10)
	for title, row := range map[string]struct{ lines, stanzas, says string }{
		"as Microsoft has it": {lines: "deb [arch=amd64,arm64,armhf signed-by=@KEY] https://packages.microsoft.com/ubuntu/22.04/prod jammy main\n"},
		"with comments":       {lines: "# a\n\n  # b\ndeb [ signed-by=@KEY ] https://a b c # d\n"},
		"with two sources":    {lines: "deb [signed-by=@KEY] https://a b c\ndeb-src\t[signed-by=@KEY]\thttps://a b c\n"},
		"a fingerprint":       {lines: "deb [signed-by=" + fingerprint + "] https://a b c"},
		"a fingerprint alone": {lines: "deb [signed-by=" + fingerprint + "!,@KEY] https://a b c"},
		"what is off, off":    {lines: "deb [signed-by=@KEY trusted=no allow-weak=false] https://a b c"},
		"as apt writes stanzas": {
			stanzas: "Types: deb\nURIs: https://a\nSuites: b\nComponents: c\nSigned-By: @KEY\n"},
		"stanzas with comments": {
			stanzas: "# a\n\nTypes: deb\n# b\nURIs: https://a\n  https://b\nSuites: c\nSigned-By:\n @KEY\n"},
		"a stanza that is off": {
			stanzas: "Types: deb\nURIs: x\nEnabled: no\n\nTypes: deb\nURIs: https://a\nSigned-By: @KEY\n"},
		"a key in the stanza": {
			stanzas: "Types: deb\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQ==\n" +
				" -----END PGP PUBLIC KEY BLOCK-----\n"},
		"names of fields in any case": {stanzas: "types: deb\nURIS: https://a\nsigned-BY: @KEY\nX-Note: trusted\n"},

		"no signed-by":                  {lines: "deb [arch=amd64] https://a b c", says: "no signed-by"},
		"no options":                    {lines: "deb https://a b c", says: "no signed-by"},
		"an empty signed-by":            {lines: "deb [signed-by=] https://a b c", says: "no signed-by"},
		"the second without":            {lines: "deb [signed-by=@KEY] https://a b c\ndeb https://a b c", says: "line 2: it has no signed-by"},
		"a key that isn't there":        {lines: "deb [signed-by=/nowhere.gpg] https://a b c", says: "no such file"},
		"a key by a relative path":      {lines: "deb [signed-by=key.gpg] https://a b c", says: "neither a path nor"},
		"half a fingerprint":            {lines: "deb [signed-by=AB12] https://a b c", says: "neither a path nor"},
		"trusted":                       {lines: "deb [signed-by=@KEY trusted=yes] https://a b c", says: "takes checks away"},
		"trusted, in another way":       {lines: "deb [signed-by=@KEY trusted=1] https://a b c", says: "takes checks away"},
		"trusted, in capitals":          {lines: "deb [signed-by=@KEY Trusted=yes] https://a b c", says: "takes checks away"},
		"trusted, added":                {lines: "deb [signed-by=@KEY trusted+=yes] https://a b c", says: "takes checks away"},
		"insecure":                      {lines: "deb [allow-insecure=yes signed-by=@KEY] https://a b c", says: "takes checks away"},
		"weak":                          {lines: "deb [signed-by=@KEY allow-weak=yes] https://a b c", says: "takes checks away"},
		"downgrades":                    {lines: "deb [signed-by=@KEY allow-downgrade-to-insecure=yes] https://a b c", says: "takes checks away"},
		"signed-by, taken away":         {lines: "deb [signed-by=@KEY signed-by-=@KEY] https://a b c", says: "has to be signed-by"},
		"signed-by twice":               {lines: "deb [signed-by=@KEY signed-by=@KEY] https://a b c", says: "can't be read"},
		"an option that is none":        {lines: "deb [signed-by=@KEY trusted] https://a b c", says: "can't be read"},
		"options in quotes":             {lines: `deb [signed-by=@KEY "trusted=yes"] https://a b c`, says: "can't be read"},
		"options with escapes":          {lines: "deb [signed-by=@KEY %74rusted=yes] https://a b c", says: "can't be read"},
		"options without an end":        {lines: "deb [signed-by=@KEY https://a b c", says: "can't be read"},
		"another kind":                  {lines: "rpm [signed-by=@KEY] https://a b c", says: "no kind of source"},
		"no source":                     {lines: "# deb [signed-by=@KEY] https://a b c\n", says: "no source"},
		"nothing":                       {lines: "", says: "no source"},
		"a stanza without":              {stanzas: "Types: deb\nURIs: https://a\n", says: "no signed-by"},
		"one of two stanzas without":    {stanzas: "Types: deb\nSigned-By: @KEY\n\n\nTypes: deb\n", says: "no signed-by"},
		"a stanza that is trusted":      {stanzas: "Types: deb\nSigned-By: @KEY\nTrusted: Yes\n", says: "takes checks away"},
		"a stanza that is weak":         {stanzas: "Types: deb\nSigned-By: @KEY\nAllow-Weak: true\n", says: "takes checks away"},
		"a field twice":                 {stanzas: "Types: deb\nSigned-By: @KEY\nsigned-by: @KEY\n", says: "given twice"},
		"a line that is no field":       {stanzas: "Types: deb\nSigned-By: @KEY\nwhat\n", says: "no field"},
		"a line that continues nothing": {stanzas: " @KEY\nTypes: deb\n", says: "continues nothing"},
		"all stanzas are off":           {stanzas: "Types: deb\nSigned-By: @KEY\nEnabled: no\n", says: "no source"},
	} {
		t.Run(title, func(t *testing.T) {
			folder := plainFolder(t)
			key := filepath.Join(folder, "key.gpg")
			if err := os.WriteFile(key, []byte("key"), 0o600); err != nil {
				t.Fatal(err)
			}
			path, text := filepath.Join(folder, "a.list"), row.lines
			if row.stanzas != "" {
				path, text = filepath.Join(folder, "a.sources"), row.stanzas
			}
			if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "@KEY", key)), 0o600); err != nil {
				t.Fatal(err)
			}
			err := trustedSources(path)
			switch {
			case row.says == "" && err != nil:
				t.Errorf("it says %v", err)
			case row.says != "" && (OutcomeOf(err) != UnsignedRepository || !strings.Contains(err.Error(), row.says)):
				t.Errorf("it says %v, want %q", err, row.says)
			}
		})
	}
}

// plainFolder has no commas in its path, as those of tests have: they part keys.
func plainFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "sources")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) }) // what is left is in the way of nobody
	return folder
}

// TestFilesThatOthersCanWriteAreNotTrusted: neither sources, nor keys, nor settings.
func TestFilesThatOthersCanWriteAreNotTrusted(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	files := map[string]string{
		"key.gpg": "key", "a.list": "deb [signed-by=" + at("key.gpg") + "] https://a b c\n",
		"dnf.conf": "[main]\nreposdir=" + folder + "\n",
		"a.repo":   "[a]\ngpgcheck=1\ngpgkey=file://" + at("key.gpg") + "\n",
	}
	for name, text := range files {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	packages := rpm{configuration: at("dnf.conf"), repository: "a"}
	if err := trustedSources(at("a.list")); err != nil {
		t.Error(err)
	}
	if err := packages.trusted(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"key.gpg", "a.list", "dnf.conf", "a.repo"} {
		if err := os.Chmod(at(name), 0o666); err != nil {
			t.Fatal(err)
		}
		sources, repository := trustedSources(at("a.list")), packages.trusted()
		if forSources := name == "key.gpg" || name == "a.list"; forSources != (OutcomeOf(sources) == UnsignedRepository) {
			t.Errorf("%s: sources: %v", name, sources)
		}
		if name != "a.list" && OutcomeOf(repository) != UnsignedRepository {
			t.Errorf("%s: repository: %v", name, repository)
		}
		if err := os.Chmod(at(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRepositoriesThatCheckSignatures: dnf's and tdnf's settings.
func TestRepositoriesThatCheckSignatures(t *testing.T) {
	for title, row := range map[string]struct {
		main, repository string
		tdnf, dnf        string // of the error; empty where it is trusted
	}{
		"as Azure Linux has it": {"gpgcheck=1\ninstallonly_limit=3\n",
			"name=Azure Linux $releasever $basearch\nbaseurl=https://a/$releasever\ngpgkey=file://@KEY\ngpgcheck=1\nrepo_gpgcheck=1\nenabled=1\n", "", ""},
		"in the repository alone":        {"", "gpgcheck = yes\ngpgkey=file://@KEY\n", "", ""},
		"in main alone":                  {"gpgcheck=True\n", "gpgkey=file://@KEY\n", "", ""},
		"two keys":                       {"", "gpgcheck=1\ngpgkey=file://@KEY, file://@KEY\n", "", ""},
		"keys on lines":                  {"", "gpgcheck=1\ngpgkey=file://@KEY\n   file://@KEY\n", "", ""},
		"comments":                       {"# a\n; b\n", "; c\ngpgcheck=1\n\n#gpgcheck=0\ngpgkey=file://@KEY\n", "", ""},
		"off in main, on here":           {"gpgcheck=0\n", "gpgcheck=1\ngpgkey=file://@KEY\n", "not in force", ""},
		"on in main, off here":           {"gpgcheck=1\n", "gpgcheck=0\ngpgkey=file://@KEY\n", "not in force", "not in force"},
		"nowhere":                        {"", "gpgkey=file://@KEY\n", "not in force", "not in force"},
		"a word that is no yes":          {"", "gpgcheck=y\ngpgkey=file://@KEY\n", "not in force", "not in force"},
		"no key":                         {"", "gpgcheck=1\n", "no gpgkey", "no gpgkey"},
		"a key from elsewhere":           {"", "gpgcheck=1\ngpgkey=https://a/key\n", "not a file of the image", "not a file of the image"},
		"a key from elsewhere beside":    {"", "gpgcheck=1\ngpgkey=file://@KEY https://a/key\n", "not a file", "not a file"},
		"a key of a variable":            {"", "gpgcheck=1\ngpgkey=file:///etc/$releasever\n", "not a file", "not a file"},
		"a key that isn't there":         {"", "gpgcheck=1\ngpgkey=file:///nowhere\n", "no such file", "no such file"},
		"a setting twice":                {"", "gpgcheck=1\nGPGcheck=0\ngpgkey=file://@KEY\n", "given twice", "given twice"},
		"the section twice":              {"", "gpgcheck=1\ngpgkey=file://@KEY\n[a]\ngpgcheck=0\n", "given twice", "given twice"},
		"a line that is none":            {"", "gpgcheck=1\ngpgkey=file://@KEY\nwhat\n", "no setting", "no setting"},
		"a line that continues nothing":  {"", " 1\ngpgcheck=1\ngpgkey=file://@KEY\n", "continues nothing", "continues nothing"},
		"another repository's is no use": {"", "gpgkey=file://@KEY\n[b]\ngpgcheck=1\n", "not in force", "not in force"},
	} {
		t.Run(title, func(t *testing.T) {
			folder := plainFolder(t)
			key := filepath.Join(folder, "key")
			for name, text := range map[string]string{
				"key": "key", "c.conf": "[main]\nreposdir=" + folder + "\n" + row.main,
				"a.repo": "[other]\ngpgcheck=0\n[a]\n" + strings.ReplaceAll(row.repository, "@KEY", key),
			} {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for manager, says := range map[bool]string{true: row.tdnf, false: row.dnf} {
				err := rpm{configuration: filepath.Join(folder, "c.conf"), repository: "a", both: manager}.trusted()
				switch {
				case says == "" && err != nil:
					t.Errorf("tdnf %t: it says %v", manager, err)
				case says != "" && (OutcomeOf(err) != UnsignedRepository || !strings.Contains(err.Error(), says)):
					t.Errorf("tdnf %t: it says %v, want %q", manager, err, says)
				}
			}
		})
	}
}

// TestARepositoryOfTwoFilesIsNotTrusted, and one of none.
func TestARepositoryOfTwoFilesIsNotTrusted(t *testing.T) {
	folder := t.TempDir()
	configuration := filepath.Join(folder, "c.conf")
	if err := os.WriteFile(configuration, []byte("[main]\nreposdir="+folder+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	packages := rpm{configuration: configuration, repository: "a"}
	err := packages.trusted()
	if OutcomeOf(err) != UnsignedRepository || !strings.Contains(err.Error(), "not configured") {
		t.Errorf("it says %v", err)
	}
	for _, name := range []string{"1.repo", "2.repo"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("[a]\ngpgcheck=1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := packages.trusted(); OutcomeOf(err) != UnsignedRepository || !strings.Contains(err.Error(), "and in") {
		t.Errorf("it says %v", err)
	}
}

func FuzzSources(f *testing.F) {
	f.Add("deb [arch=amd64 signed-by=/a] https://a b c # d\n")
	f.Add("Types: deb\nURIs: https://a\n b\nSigned-By: /a\nEnabled: no\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		// What is accepted has to name a key, and not the word that takes all checks away.
		lower := strings.ToLower(text)
		for _, check := range []func(string) error{checkLines, checkStanzas} {
			if check(text) == nil && !strings.Contains(lower, "signed-by") {
				t.Errorf("%q is trusted", text)
			}
		}
	})
}

func FuzzRepositorySettings(f *testing.F) {
	f.Add("[main]\ngpgcheck=1\n[a]\ngpgkey = file:///a\n  file:///b\n", "a")
	f.Fuzz(func(_ *testing.T, text, name string) { _, _ = parseSection(text, name) })
}

func FuzzOSRelease(f *testing.F) {
	f.Add([]byte("ID=\"azurelinux\"\nVARIANT_ID='osguard'\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(t.TempDir(), "os-release")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = readSystem(path)
	})
}
