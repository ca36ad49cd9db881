package approval

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"salve/engine"
	"salve/journal"
)

// subfolder is where statements lie, beside the records of a journal. Whoever may write there can say what they like:
// what is believed is what a key has signed.
const subfolder = "approvals"

// mostStatements bounds what is read of the answers to one question.
const mostStatements = 1000

// Folder is the place of statements beside a journal in a folder.
type Folder struct {
	// Dir is the journal's folder.
	Dir string
	// Key is that of the requester; nil where four eyes are not asked for.
	Key Signer
	// Claimed is who asks, by the word of this machine. It proves nothing.
	Claimed string
}

var _ engine.Approvals = Folder{}

// Requester is who asks: the owner of the key. Where four eyes are asked for it is one of those whom the rule names.
func (f Folder) Requester(ctx context.Context, rule journal.ApprovalRule) (journal.Identity, error) {
	if f.Key == nil {
		if rule.FourEyes {
			return journal.Identity{}, errors.New("four eyes: nothing shows who asks. " +
				"hint: --request-key KEY, the key of a person in the policy")
		}
		return journal.Identity{User: f.Claimed}, nil
	}
	nonce := make([]byte, 32)
	_, _ = rand.Read(nonce) // never fails, by its documentation
	challenge := append([]byte("salve approval requester 1\n"), nonce...)
	signature, err := f.Key.Sign(ctx, challenge)
	if err != nil {
		return journal.Identity{}, fmt.Errorf("signing with the requester's key: %w", err)
	}
	if !ed25519.Verify(f.Key.Public(), challenge, signature) {
		return journal.Identity{}, errors.New("the requester's key does not sign")
	}
	word := keyWord(f.Key.Public())
	i := slices.IndexFunc(rule.Keys, func(person journal.ApproverKey) bool { return person.Key == word })
	switch {
	case i >= 0:
		return journal.Identity{User: rule.Keys[i].Name, Key: word}, nil
	case rule.FourEyes:
		return journal.Identity{}, fmt.Errorf("four eyes: the requester's key %s is of nobody in the policy, and could be "+
			"anybody's", word)
	}
	return journal.Identity{User: f.Claimed, Key: word}, nil
}

// Statements are those that were left about a question.
func (f Folder) Statements(
	_ context.Context, rule journal.ApprovalRule, run string, question journal.Question,
) ([]engine.Said, error) {
	root, err := os.OpenRoot(filepath.Join(f.Dir, subfolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading approvals: %w", err)
	}
	defer func() { _ = root.Close() }()
	names, left, err := statementsIn(root, begins(run, question.ID))
	if err != nil {
		return nil, fmt.Errorf("reading approvals: %w", err)
	}
	var all []engine.Said
	for _, name := range names {
		raw, err := readRegular(root, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading approval %s: %w", name, err)
		}
		statement, err := Verify(rule, raw)
		if statement.ID == "" {
			statement.ID, statement.By.User = name, "nobody known"
		}
		statement.Proof = filepath.Join(subfolder, name)
		all = append(all, engine.Said{Statement: statement, Refused: err})
	}
	if left > 0 {
		all = append(all, engine.Said{Left: left})
	}
	return all, nil
}

// statementsIn are the names of the statements that begin so, and how many more there are.
func statementsIn(root *os.Root, beginning string) (names []string, left int, err error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil, 0, err
	}
	for _, entry := range entries {
		if name := entry.Name(); strings.HasPrefix(name, beginning) && strings.HasSuffix(name, extension) &&
			entry.Type().IsRegular() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	read := min(len(names), mostStatements)
	return names[:read], len(names) - read, nil
}

const extension = ".json"

func begins(run, question string) string { return run + "." + question + "." }

func readRegular(root *os.Root, name string) (_ []byte, err error) {
	// Without waiting for a writer, as a named pipe has it wait.
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	return io.ReadAll(io.LimitReader(file, maxStatement+1))
}

// Leave puts a signed statement where the runner looks for it: whole, or not at all.
func (f Folder) Leave(run, question string, statement []byte) (name string, err error) {
	dir := filepath.Join(f.Dir, subfolder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("leaving the approval: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("leaving the approval: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	tail := make([]byte, 4)
	_, _ = rand.Read(tail) // never fails, by its documentation
	name = begins(run, question) + hex.EncodeToString(tail) + extension
	unfinished := "." + name
	file, err := root.OpenFile(unfinished, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", fmt.Errorf("leaving the approval: %w", err)
	}
	_, err = file.Write(statement)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = root.Rename(unfinished, name)
	}
	if err != nil {
		return "", fmt.Errorf("leaving the approval: %w", errors.Join(err, root.Remove(unfinished)))
	}
	return filepath.Join(dir, name), nil
}
