package fetch

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"salve/internal/hotfix/disk"
)

// How dnf and tdnf are told of repositories:
// https://dnf.readthedocs.io/en/latest/conf_ref.html.

const (
	// maxRepositoryFile bounds a file of settings, in bytes, and maxRepositoryFiles their
	// number.
	maxRepositoryFile  = 256 << 10
	maxRepositoryFiles = 500
)

// repositorySettings are what counts of a repository.
type repositorySettings struct {
	keys  []string // paths of files
	files []string // that say so
}

// trusted tells whether the repository's packages have to be signed, by keys that the
// image has.
func (r rpm) trusted() error {
	_, err := r.configured()
	return err
}

func (r rpm) identity() string {
	found, err := r.configured()
	if err != nil {
		return r.repository + " " + err.Error()
	}
	identity := r.repository
	for _, file := range found.files {
		identity += " " + fileIdentity(file)
	}
	return identity
}

// configured reads what the node's own files say of the repository. The errors are
// *Error.
func (r rpm) configured() (repositorySettings, error) {
	found, err := r.readSettings()
	if err != nil {
		return repositorySettings{}, &Error{Outcome: UnsignedRepository,
			Err: fmt.Errorf("repository %s: %w", r.repository, err)}
	}
	return found, nil
}

func (r rpm) readSettings() (repositorySettings, error) {
	main, err := sectionOf(r.configuration, "main")
	if err != nil {
		return repositorySettings{}, err
	}
	paths, err := repositoryFiles(main, r.configuration)
	if err != nil {
		return repositorySettings{}, err
	}
	var own map[string]string
	var at string
	for _, path := range paths {
		section, err := sectionOf(path, r.repository)
		if err != nil {
			return repositorySettings{}, err
		}
		if section != nil && own != nil {
			return repositorySettings{}, fmt.Errorf("it is in %s and in %s", at, path)
		}
		if section != nil {
			own, at = section, path
		}
	}
	if own == nil {
		return repositorySettings{}, errors.New("it is not configured here")
	}
	if !r.checks(main["gpgcheck"], own["gpgcheck"]) {
		return repositorySettings{}, fmt.Errorf("%s: gpgcheck is not in force", at)
	}
	keys, err := keyFiles(own["gpgkey"])
	if err != nil {
		return repositorySettings{}, fmt.Errorf("%s: %w", at, err)
	}
	return repositorySettings{keys, []string{r.configuration, at}}, nil
}

// checks tells whether gpgcheck is in force. It has to be said: what is the case
// without a word differs from one version to the next.
func (r rpm) checks(main, own string) bool {
	yes := func(value string) bool {
		return slices.Contains([]string{"1", "yes", "true", "on"}, strings.ToLower(value))
	}
	if r.both && main != "" && !yes(main) {
		return false
	}
	if own != "" {
		return yes(own)
	}
	return yes(main)
}

// repositoryFiles lists the files in which repositories are.
func repositoryFiles(main map[string]string, configuration string) ([]string, error) {
	folders := []string{"/etc/yum.repos.d", "/etc/yum/repos.d", "/etc/distro.repos.d"}
	for _, name := range []string{"reposdir", "repodir"} { // dnf's, and tdnf's
		if value := main[name]; value != "" {
			folders = strings.FieldsFunc(value, isSeparator)
		}
	}
	paths := []string{configuration}
	for _, folder := range folders {
		found, err := filepath.Glob(filepath.Join(folder, "*.repo"))
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	if len(paths) > maxRepositoryFiles {
		return nil, fmt.Errorf("there are more than %d files of repositories", maxRepositoryFiles)
	}
	return paths, nil
}

func isSeparator(c rune) bool { return c == ',' || c == ' ' || c == '\t' || c == '\n' }

// keyFiles gives the paths of the keys that the image has.
func keyFiles(value string) ([]string, error) {
	var keys []string
	for key := range strings.FieldsFuncSeq(value, isSeparator) {
		path, isFile := strings.CutPrefix(key, "file://")
		if !isFile || !filepath.IsAbs(path) || strings.Contains(path, "$") {
			return nil, fmt.Errorf("gpgkey %.100q is not a file of the image", key)
		}
		if _, err := disk.ReadGuarded(path, maxKey); err != nil {
			return nil, fmt.Errorf("gpgkey: %w", err)
		}
		keys = append(keys, path)
	}
	if len(keys) == 0 {
		return nil, errors.New("it has no gpgkey: which key has to sign is left open")
	}
	return keys, nil
}

// sectionOf gives the settings of a section of a file, or nil where there is none.
// Nobody else may have written the file.
func sectionOf(path, name string) (map[string]string, error) {
	raw, err := disk.ReadGuarded(path, maxRepositoryFile)
	if err != nil {
		return nil, err
	}
	section, err := parseSection(string(raw), name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return section, nil
}

// parseSection reads lines of «[section]» and «name = value», which are continued by
// lines that begin with a space.
func parseSection(text, name string) (map[string]string, error) {
	var section map[string]string
	inside, last, number := false, "", 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, " \t\r\n")
		plain := strings.TrimSpace(line)
		option, value, isOption := strings.Cut(plain, "=")
		option = strings.ToLower(strings.TrimSpace(option))
		switch {
		case plain == "" || plain[0] == '#' || plain[0] == ';':
		case plain[0] == '[':
			if inside, last = plain == "["+name+"]", ""; inside && section != nil {
				return nil, fmt.Errorf("line %d: the section is given twice", number)
			}
			if inside {
				section = map[string]string{}
			}
		case !inside:
		case line[0] == ' ' || line[0] == '\t':
			if last == "" {
				return nil, fmt.Errorf("line %d: it continues nothing", number)
			}
			section[last] += "\n" + plain
		case !isOption:
			return nil, fmt.Errorf("line %d: it is no setting", number)
		default:
			if _, twice := section[option]; twice {
				return nil, fmt.Errorf("line %d: %.60q is given twice", number, option)
			}
			section[option], last = strings.TrimSpace(value), option
		}
	}
	return section, nil
}
