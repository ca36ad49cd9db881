package prepublish

import (
	"fmt"
	"net/url"
	"strings"
)

// ParseRepository reads a repository as people write it:
//
//	deb URL SUITE COMPONENT    or deb URL SUITE/ for a flat one
//	rpm URL                    with $basearch for the architecture
func ParseRepository(text string) (Repository, error) {
	words := strings.Fields(text)
	if len(words) >= 2 {
		at, err := url.Parse(words[1])
		if err != nil || (at.Scheme != "https" && at.Scheme != "http") || at.Host == "" {
			return nil, fmt.Errorf("%q is not an address of HTTP or HTTPS", words[1])
		}
	}
	switch {
	case len(words) == 2 && words[0] == "rpm":
		return rpmRepository{words[1]}, nil
	case len(words) == 3 && words[0] == "deb" && strings.HasSuffix(words[2], "/"):
		return aptRepository{words[1], words[2], ""}, nil
	case len(words) == 4 && words[0] == "deb" && !strings.HasSuffix(words[2], "/"):
		return aptRepository{words[1], words[2], words[3]}, nil
	}
	return nil, fmt.Errorf("%q is neither «deb URL SUITE COMPONENT» nor «rpm URL»", text)
}
