package comment

import (
	"net/http"
	"regexp"
	"strings"

	"salve/internal/permit"
)

// commentPath is what follows a repository in the address of the comments of an issue or pull request, and of one of
// them.
var commentPath = regexp.MustCompile(`^/issues/([0-9]+/comments|comments/[0-9]+)$`)

// exempt lets through what writes comments of the repository that access was given to. Everything else that changes
// something needs a permit, which nobody here has.
func exempt(base string, access permit.CommentAccess) func(*http.Request) (string, bool) {
	owner, repo := access.Repository()
	prefix := strings.TrimSuffix(base, "/") + "/repos/" + owner + "/" + repo
	return func(request *http.Request) (string, bool) {
		at := *request.URL
		at.RawQuery, at.Fragment = "", ""
		rest, ours := strings.CutPrefix(at.String(), prefix)
		return "comment", ours && owner != "" && commentPath.MatchString(rest)
	}
}
