package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"salve/internal/apierr"
)

// Protection is the classic protection of a branch. Rulesets are apart: Rules.
type Protection struct {
	Branch Branch
	// Protected is false on GitHub's word alone; all else is then zero.
	Protected bool
	// Object is what GitHub gave, to be kept for undoing.
	Object json.RawMessage
	// Settings are what it means. Unknown names the fields that they leave out: a whole write would take them away.
	Settings Settings
	Unknown  []string
	// ETag is GitHub's for this object; it serves as evidence, not as a precondition.
	ETag string
}

// Protection reads the protection of a branch that was read before. Without the rights to see it, it fails with class
// Denied; when the branch is gone since, with class Missing.
func (c *Client) Protection(ctx context.Context, branch Branch) (Protection, error) {
	if err := branch.seen(); err != nil {
		return Protection{}, err
	}
	doing := fmt.Sprintf("reading the protection of %s", branch)
	var object json.RawMessage
	response, err := c.get(ctx, doing, branch.protectionPath(), &object)
	switch {
	case errors.Is(err, ErrNotProtected):
		return Protection{Branch: branch}, nil
	case errors.Is(err, ErrHidden):
		return Protection{}, c.withRights(ctx, branch.Repo, err)
	case err != nil:
		return Protection{}, err
	}
	read, err := protectionOf(branch, object)
	if err != nil {
		return Protection{}, fmt.Errorf("%s: %w", doing, err)
	}
	read.ETag = response.Header.Get("ETag")
	return read, nil
}

func (b Branch) protectionPath(below ...string) string {
	return b.Repo.path(append([]string{"branches", b.Name, "protection"}, below...)...)
}

// withRights adds to a 404 what can be known of its reason. It stays what it is.
func (c *Client) withRights(ctx context.Context, repo Repo, hidden error) error {
	seen, err := c.Repository(ctx, repo)
	switch {
	case err != nil:
		return fmt.Errorf("%w (and %s could not be read: %w)", hidden, repo, err)
	case seen.Rights.Known && !seen.Rights.Admin:
		return fmt.Errorf("%w. forbidden: the token's identity is no administrator of %s. hint: it needs admin rights, "+
			"or an app's administration: read", hidden, repo)
	}
	return fmt.Errorf("%w. hint: an app or a fine-grained token needs administration: read for %s", hidden, repo)
}

// protectionOf decodes an object, and checks that it is this branch's by the address that it names itself.
func protectionOf(branch Branch, object json.RawMessage) (Protection, error) {
	var self struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal(object, &self); err != nil {
		return Protection{}, apierr.New(apierr.Terminal, "unexpected answer: %w", err)
	}
	if !branch.protectedBy(self.URL) {
		return Protection{}, otherObject("protection of", branch.String(), self.URL)
	}
	settings, unknown, err := ParseSettings(object)
	if err != nil {
		return Protection{}, apierr.New(apierr.Terminal, "unexpected answer: %w", err)
	}
	return Protection{
		Branch: branch, Protected: true, Object: bytes.Clone(object), Settings: settings, Unknown: unknown,
	}, nil
}

// protectedBy tells whether an address is that of the branch's protection. GitHub leaves the slashes of a branch's name
// as they are; of other characters one can't be sure.
func (b Branch) protectedBy(address string) bool {
	head, tail := "/repos/"+b.Repo.String()+"/", "branches/"+b.Name+"/protection"
	is := func(address string) bool {
		before, ok := strings.CutSuffix(address, tail)
		return ok && len(before) >= len(head) && strings.EqualFold(before[len(before)-len(head):], head)
	}
	unescaped, err := url.PathUnescape(address)
	return is(address) || err == nil && is(unescaped)
}

// SetProtection writes the whole protection of a branch: what settings do not say is taken away. Signatures are not
// written. What GitHub answered is given back.
func (c *Client) SetProtection(ctx context.Context, branch Branch, settings Settings) (Protection, error) {
	if err := branch.seen(); err != nil {
		return Protection{}, err
	}
	doing := fmt.Sprintf("writing the protection of %s", branch)
	answer, err := c.change(ctx, doing, http.MethodPut, branch.protectionPath(), settings.Request())
	if err != nil {
		return Protection{}, err
	}
	written, err := protectionOf(branch, answer)
	if err != nil {
		// It was accepted: what is there now has to be read.
		return Protection{}, fmt.Errorf("%s: %w", doing, apierr.New(apierr.Transient, "%w", err))
	}
	return written, nil
}

// RemoveProtection takes the protection of a branch away. It fails with ErrNotProtected when there was none.
func (c *Client) RemoveProtection(ctx context.Context, branch Branch) error {
	if err := branch.seen(); err != nil {
		return err
	}
	_, err := c.change(ctx, fmt.Sprintf("removing the protection of %s", branch), http.MethodDelete,
		branch.protectionPath(), nil)
	return err
}

// RequireSignatures asks for signed commits on a protected branch, or no longer does.
func (c *Client) RequireSignatures(ctx context.Context, branch Branch, required bool) error {
	if err := branch.seen(); err != nil {
		return err
	}
	method, verb := http.MethodDelete, "not requiring"
	if required {
		method, verb = http.MethodPost, "requiring"
	}
	_, err := c.change(ctx, fmt.Sprintf("%s signatures on %s", verb, branch), method,
		branch.protectionPath("required_signatures"), nil)
	return err
}
