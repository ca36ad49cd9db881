package prepublish

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"salve/internal/apierr"
)

// aptRepository is one suite and component: sources.list(5). A suite that ends with
// a slash is a flat repository and has no component.
type aptRepository struct{ url, suite, component string }

func (a aptRepository) String() string {
	return strings.TrimSpace("deb " + Shown(a.url) + " " + a.suite + " " + a.component)
}

// versions reads the index of an architecture: Release names it and gives its
// digest. Whether Release is signed is apt's to check, on the node.
func (a aptRepository) versions(ctx context.Context, from *Reader, architecture string) (index, error) {
	root, within := strings.TrimSuffix(a.url, "/")+"/dists/"+a.suite+"/", a.component+"/binary-"+architecture+"/"
	if strings.HasSuffix(a.suite, "/") {
		root, within = strings.TrimSuffix(a.url, "/")+"/"+strings.TrimPrefix(a.suite, "./"), ""
	}
	raw, err := from.whole(ctx, root+"Release")
	if err != nil {
		return nil, err
	}
	digests := releaseDigests(string(raw))
	for _, ending := range []string{".xz", ".gz", ""} {
		digest, listed := digests[within+"Packages"+ending]
		if !listed {
			continue
		}
		found := index{}
		err := from.verified(ctx, root+within+"Packages"+ending, digest, func(content io.Reader) error {
			return found.addPackages(content, architecture)
		})
		if err != nil && apierr.ClassOf(err) == apierr.Missing {
			continue // a Release may list forms that aren't kept
		}
		return found, err
	}
	return nil, fmt.Errorf("%s: its Release names no %sPackages that can be had", a, within)
}

// releaseDigests reads the section of SHA-256 digests: lines of digest, size, path.
func releaseDigests(release string) map[string]string {
	digests := map[string]string{}
	inside := false
	for line := range strings.Lines(release) {
		if !strings.HasPrefix(line, " ") {
			inside = strings.HasPrefix(line, "SHA256:")
			continue
		}
		if columns := strings.Fields(line); inside && len(columns) == 3 {
			digests[strings.TrimPrefix(columns[2], "./")] = columns[0]
		}
	}
	return digests
}

// addPackages reads the paragraphs of a Packages file.
func (i index) addPackages(content io.Reader, architecture string) error {
	lines := bufio.NewScanner(content)
	lines.Buffer(nil, 4<<20)
	name, of, one := "", "", packaged{}
	end := func() {
		if name != "" && one.version != "" && (of == architecture || of == "all") {
			i[name] = append(i[name], one)
		}
		name, of, one = "", "", packaged{}
	}
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimSpace(value)
		switch field {
		case "":
			end()
		case "Package":
			name = value
		case "Version":
			one.version = value
		case "SHA256":
			one.sha256 = value
		case "Size":
			one.size, _ = strconv.ParseInt(value, 10, 64) // no size is another one than that of any artifact
		case "Architecture":
			of = value
		}
	}
	end()
	return lines.Err()
}
