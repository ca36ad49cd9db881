package approval_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"salve/internal/approval"
	"salve/journal"
)

// person has a key of their own.
type person struct {
	name    string
	private ed25519.PrivateKey
}

func newPerson(t testing.TB, name string) person {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return person{name, private}
}

func (p person) Public() ed25519.PublicKey { return p.private.Public().(ed25519.PublicKey) }

func (p person) Sign(_ context.Context, message []byte) ([]byte, error) {
	return ed25519.Sign(p.private, message), nil
}

func (p person) word() string { return "ed25519:" + base64.StdEncoding.EncodeToString(p.Public()) }

func ruleOf(people ...person) journal.ApprovalRule {
	rule := journal.ApprovalRule{WaitSeconds: 60}
	for _, one := range people {
		rule.Keys = append(rule.Keys, journal.ApproverKey{Name: one.name, Key: one.word()})
	}
	return rule
}

func says() journal.Statement {
	return journal.Statement{Run: "run-1", Digest: "d1", Question: "q1", Expires: 3600, Limits: map[string]int{"max": 10},
		Reason: "go on", From: "alice@laptop"}
}

func signedBy(t testing.TB, by person, statement journal.Statement) []byte {
	t.Helper()
	raw, err := approval.Sign(t.Context(), by, statement)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestStatementIsBelievedFromItsKeyAlone(t *testing.T) {
	alice, mallory := newPerson(t, "alice"), newPerson(t, "mallory")
	rule := ruleOf(alice)
	claims := says()
	claims.ID, claims.By, claims.Proof = "chosen", journal.Identity{User: "somebody else"}, "chosen"
	got, err := approval.Verify(rule, signedBy(t, alice, claims))
	if err != nil || got.By.User != "alice" || got.ID == "chosen" || got.Proof != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	got.ID, got.By = "", journal.Identity{}
	if !reflect.DeepEqual(got, says()) {
		t.Errorf("got %+v", got)
	}
	for name, row := range map[string]struct {
		raw  []byte
		want string
	}{
		"of an unknown key": {signedBy(t, mallory, says()), "is none of those who may approve"},
		"with alice's name on mallory's signature": {edited(t, signedBy(t, mallory, says()), func(s map[string]any) {
			s["key"] = alice.word()
		}), "forged: the signature is not that of alice"},
		"with another plan under alice's signature": {edited(t, signedBy(t, alice, says()), func(s map[string]any) {
			raw, _ := base64.StdEncoding.DecodeString(s["statement"].(string))
			s["statement"] = []byte(strings.Replace(string(raw), `"d1"`, `"d2"`, 1))
		}), "forged: the signature is not that of alice"},
		"with a field more": {edited(t, signedBy(t, alice, says()), func(s map[string]any) {
			s["by"] = "alice"
		}), "unknown field"},
		"of something else entirely": {[]byte(`[]`), "not a signed statement"},
		"too long to be one":         {make([]byte, 20<<10), "more than"},
	} {
		if got, err := approval.Verify(rule, row.raw); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	other := ruleOf(alice)
	other.By = []string{"user:carol"}
	_, err = approval.Verify(other, signedBy(t, alice, says()))
	if err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("who is not named: %v", err)
	}
}

// TestSignatureOfSomethingElseIsNone: the key may sign other things, hotfixes among them.
func TestSignatureOfSomethingElseIsNone(t *testing.T) {
	alice := newPerson(t, "alice")
	raw := edited(t, signedBy(t, alice, says()), func(s map[string]any) {
		statement, _ := base64.StdEncoding.DecodeString(s["statement"].(string))
		s["signature"] = ed25519.Sign(alice.private, statement)
	})
	if _, err := approval.Verify(ruleOf(alice), raw); err == nil {
		t.Error("a signature for another purpose is believed")
	}
}

// TestStatementSignedAgainIsTheSame: it can't be used once for each signature.
func TestStatementSignedAgainIsTheSame(t *testing.T) {
	alice := newPerson(t, "alice")
	first, err := approval.Verify(ruleOf(alice), signedBy(t, alice, says()))
	if err != nil {
		t.Fatal(err)
	}
	second, err := approval.Verify(ruleOf(alice), signedBy(t, alice, says()))
	if err != nil || first.ID != second.ID {
		t.Errorf("%s and %s, %v", first.ID, second.ID, err)
	}
}

func edited(t testing.TB, raw []byte, change func(map[string]any)) []byte {
	t.Helper()
	fields := map[string]any{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	change(fields)
	raw, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestFolderTakesWhatWasLeftForTheQuestion, and nothing that is no regular file.
func TestFolderTakesWhatWasLeftForTheQuestion(t *testing.T) {
	alice, mallory := newPerson(t, "alice"), newPerson(t, "mallory")
	folder := approval.Folder{Dir: t.TempDir()}
	question := journal.Question{ID: "q1"}
	if said, err := folder.Statements(t.Context(), ruleOf(alice), "run-1", question); err != nil || len(said) != 0 {
		t.Fatalf("%+v, %v", said, err)
	}
	for _, by := range []person{alice, mallory} {
		if _, err := folder.Leave("run-1", "q1", signedBy(t, by, says())); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := folder.Leave("run-1", "q0", signedBy(t, alice, says())); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(folder.Dir, "approvals")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "run-1.q1.link.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "run-1.q1.folder.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "run-1.q1.junk.json"), []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := folder.Statements(t.Context(), ruleOf(alice), "run-1", question)
	if err != nil || len(said) != 3 {
		t.Fatalf("%+v, %v", said, err)
	}
	believed := 0
	for _, one := range said {
		if one.Refused == nil {
			believed++
			if one.By.User != "alice" || !strings.HasPrefix(one.Proof, "approvals") {
				t.Errorf("believed %+v", one)
			}
		}
		if one.ID == "" {
			t.Errorf("without an ID: %+v", one)
		}
	}
	if believed != 1 {
		t.Errorf("%d are believed", believed)
	}
}

// TestFolderThatIsFilledIsReadWithinBounds: whoever may write there may write as much as they like.
func TestFolderThatIsFilledIsReadWithinBounds(t *testing.T) {
	folder := approval.Folder{Dir: t.TempDir()}
	for range 1100 {
		if _, err := folder.Leave("run-1", "q1", []byte("junk")); err != nil {
			t.Fatal(err)
		}
	}
	said, err := folder.Statements(t.Context(), ruleOf(newPerson(t, "alice")), "run-1", journal.Question{ID: "q1"})
	if err != nil || len(said) != 1001 || said[1000].Left != 100 {
		t.Errorf("%d statements, %v", len(said), err)
	}
}

func TestRequesterUnderFourEyesShowsAKeyOfThePolicy(t *testing.T) {
	bob, mallory := newPerson(t, "bob"), newPerson(t, "mallory")
	rule := ruleOf(bob)
	rule.FourEyes = true
	for name, row := range map[string]struct {
		key  approval.Signer
		want string
	}{
		"a key of the policy": {bob, ""},
		"no key":              {nil, "nothing shows who asks"},
		"a key of nobody":     {mallory, "is of nobody in the policy"},
	} {
		got, err := approval.Folder{Key: row.key, Claimed: "root"}.Requester(t.Context(), rule)
		if row.want == "" && (err != nil || got.User != "bob" || !got.Same(journal.Identity{User: "bob"})) ||
			row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// pretender shows the public key of one person and signs with another's.
type pretender struct {
	person
	shows ed25519.PublicKey
}

func (p pretender) Public() ed25519.PublicKey { return p.shows }

// TestPublicKeyAloneShowsNobody: it is public. Who asks and who approves have to sign.
func TestPublicKeyAloneShowsNobody(t *testing.T) {
	bob := newPerson(t, "bob")
	rule := ruleOf(bob)
	rule.FourEyes = true
	mallory := pretender{newPerson(t, "mallory"), bob.Public()}
	if got, err := (approval.Folder{Key: mallory}).Requester(t.Context(), rule); err == nil ||
		!strings.Contains(err.Error(), "the requester's key does not sign") {
		t.Errorf("who asks is taken for %+v, %v", got, err)
	}
	if raw, err := approval.Sign(t.Context(), mallory, says()); err == nil ||
		!strings.Contains(err.Error(), "the signature is not one of the key") {
		t.Errorf("signed %s, %v", raw, err)
	}
}

func TestPoliciesThatAreRefused(t *testing.T) {
	for name, row := range map[string]struct{ text, want string }{
		"an unknown field":   {"schemaVersion: 1\napprovers: []\n", "field approvers not found"},
		"another version":    {"schemaVersion: 2\n", "schemaVersion is 2, want 1"},
		"a second document":  {"schemaVersion: 1\n---\nfourEyes: true\n", "a second document"},
		"a way to name":      {"schemaVersion: 1\napproveBy: [alice]\n", `"alice" is none of anyone, user:NAME, group:NAME`},
		"a wait in words":    {"schemaVersion: 1\nwait: long\n", `wait "long" is not a duration`},
		"a wait without end": {"schemaVersion: 1\nwait: 48h\n", "at most 24h"},
	} {
		if rule, err := approval.ReadPolicy([]byte(row.text)); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %+v, %v", name, rule, err)
		}
	}
	rule, err := approval.ReadPolicy([]byte("schemaVersion: 1\nfourEyes: true\nwait: 15m\napproveBy: ['group:sre']\n"))
	if err != nil || !rule.FourEyes || rule.WaitSeconds != (15*time.Minute).Seconds() || rule.By[0] != "group:sre" {
		t.Errorf("%+v, %v", rule, err)
	}
}

func TestRulesThatFitNoJournal(t *testing.T) {
	alice := newPerson(t, "alice")
	twice := ruleOf(alice)
	twice.Keys = append(twice.Keys, journal.ApproverKey{Name: "alice again", Key: alice.word()})
	group, nobody := ruleOf(alice), ruleOf(alice)
	group.By, nobody.By = []string{"group:sre"}, []string{"user:carol"}
	for name, row := range map[string]struct {
		err  error
		want string
	}{
		"a folder without keys":         {approval.CheckFolder(journal.ApprovalRule{}), "no key of anybody"},
		"one key for two people":        {approval.CheckFolder(twice), "is a duplicate"},
		"a group in a folder":           {approval.CheckFolder(group), "groups are known in clusters alone"},
		"a name without a key":          {approval.CheckFolder(nobody), "there is no key of that name"},
		"keys in a cluster":             {approval.CheckCluster(ruleOf(alice)), "keys are for journals in folders"},
		"an unknown word in a cluster":  {approval.CheckCluster(journal.ApprovalRule{By: []string{"x"}}), "is none of"},
		"a rule that fits a folder":     {approval.CheckFolder(ruleOf(alice)), ""},
		"whoever may approve a cluster": {approval.CheckCluster(journal.ApprovalRule{By: []string{"anyone"}}), ""},
	} {
		if said := row.err; (said == nil) != (row.want == "") || said != nil && !strings.Contains(said.Error(), row.want) {
			t.Errorf("%s: %v, want %q", name, said, row.want)
		}
	}
}
