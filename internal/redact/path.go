package redact

import (
	"net/url"
	"strings"
)

// Path masks the path of a URL, as it is sent, segment by segment: a credential in it may be escaped, which hides its
// shape.
func Path(escaped string) string {
	segments := strings.Split(escaped, "/")
	masked := false
	for i, segment := range segments {
		said, err := url.PathUnescape(segment)
		if err != nil {
			said = segment
		}
		if String(said) != said {
			segments[i], masked = Mark, true
		}
	}
	path := strings.Join(segments, "/")
	if !masked {
		path = String(path) // what shows by its neighbours, as in the addresses of webhooks
	}
	return path
}
