package gittree

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// follow finds the files that symbolic links of a revision lead to. git follows them inside of the revision, some
// dozen steps at most, and says of those that lead nowhere, in a circle or out of it what they are
// (https://git-scm.com/docs/git-cat-file, --follow-symlinks).
func follow(ctx context.Context, root, commit string, links []string) (blobs []blob, left []Left, _ error) {
	var asked []string
	for _, path := range links {
		if strings.Contains(path, "\n") { // git reads one name a line
			left = append(left, Left{path, "a symbolic link with a line break in its name"})
			continue
		}
		asked = append(asked, path)
	}
	if len(asked) == 0 {
		return nil, left, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	command := exec.CommandContext(ctx, "git", "-C", root, "cat-file", "--batch-check", "--follow-symlinks")
	command.Stdin = strings.NewReader(commit + ":" + strings.Join(asked, "\n"+commit+":") + "\n")
	said, err := command.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("git cat-file of symbolic links: %w", err)
	}
	answers := bufio.NewReader(strings.NewReader(string(said)))
	for _, path := range asked {
		found, lost, err := answerOf(answers, path)
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("git cat-file of link %s: %w", path, err)
		case lost != "":
			left = append(left, Left{path, lost})
		default:
			blobs = append(blobs, found)
		}
	}
	return blobs, left, nil
}

// answerOf reads "hash type size LF", "NAME missing LF", or "what size LF" and so many bytes with LF after them.
func answerOf(from *bufio.Reader, path string) (found blob, lost string, _ error) {
	line, err := from.ReadString('\n')
	if err != nil {
		return blob{}, "", err
	}
	fields := strings.Fields(line)
	reasons := map[string]string{
		"symlink": "a symbolic link that leads out of the repository", "dangling": "a symbolic link that leads nowhere",
		"loop": "a symbolic link that leads in a circle", "notdir": "a symbolic link through something that is no folder",
	}
	switch {
	case len(fields) == 3 && fields[1] == "blob":
		return blob{path, fields[0]}, "", nil
	case len(fields) == 3 && fields[1] == "tree":
		return blob{}, "a symbolic link to a folder, which is not followed", nil
	case strings.HasSuffix(line, " missing\n"):
		return blob{}, "a symbolic link that leads nowhere", nil
	case len(fields) != 2 || reasons[fields[0]] == "":
		return blob{}, "", fmt.Errorf("it said %q", strings.TrimSpace(line))
	}
	var size int64
	if _, err := fmt.Sscanf(fields[1], "%d", &size); err != nil || size < 0 {
		return blob{}, "", fmt.Errorf("it said %q", strings.TrimSpace(line))
	}
	if _, err := io.CopyN(io.Discard, from, size+1); err != nil {
		return blob{}, "", err
	}
	return blob{}, reasons[fields[0]], nil
}
