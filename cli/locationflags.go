package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/pflag"

	"salve/journal"
	"salve/journal/configmap"
)

// locationFlags say where a journal is: in a folder, or how in a cluster.
type locationFlags struct {
	folder, namespace string
	lease             time.Duration
}

// addFlags are those of every command that has to do with a journal; otherwise
// says where it is without any. short is the letter of its namespace, for commands that have no other namespace.
func (p *locationFlags) addFlags(flags *pflag.FlagSet, otherwise, short string) {
	flags.StringVar(&p.folder, "journal", "", "`folder` of the journal (default: "+otherwise+")")
	flags.StringVarP(&p.namespace, "journal-namespace", short, configmap.DefaultNamespace,
		"`namespace` of a journal in a cluster")
	flags.DurationVar(&p.lease, "lease-duration", configmap.DefaultLease,
		"how long a target stays locked in a cluster after its runner's last sign of life")
}

// check finds invalid flags.
func (p *locationFlags) check() error {
	if p.lease <= 0 {
		return usage("invalid --lease-duration %s: it must be above 0", p.lease)
	}
	_, err := configmap.New(configmap.Options{Namespace: p.namespace, Lease: p.lease})
	if err != nil {
		return usage("%v", err)
	}
	return nil
}

// typed are the flags that lead to the same place in a cluster again.
func (p *locationFlags) typed() []string {
	var words []string
	if p.namespace != configmap.DefaultNamespace {
		words = append(words, "--journal-namespace", p.namespace)
	}
	if p.lease != configmap.DefaultLease {
		words = append(words, "--lease-duration", p.lease.String())
	}
	return words
}

// inFolder is the journal in a folder, which its path tells from others on a host.
func (a *app) inFolder(folder string) (*journal.Location, error) {
	keyFile, err := a.keyFile()
	if err != nil {
		return nil, err
	}
	where := journal.LocationOf(journal.NewFileWithKey(folder, keyFile), folder)
	path, err := filepath.Abs(folder)
	host, unnamed := os.Hostname()
	if err == nil && unnamed == nil {
		where.ID = "folder " + host + ":" + path
	}
	return where, nil
}

// keyFileVariable names the file with the key that records in folders are sealed with.
const keyFileVariable = "SALVE_JOURNAL_KEY_FILE"

// keyFile is apart from the folder of a journal, which others may write.
func (a *app) keyFile() (string, error) {
	if named := a.lookup(keyFileVariable); named != "" {
		return named, nil
	}
	file, err := a.stateFolder("journal.key")
	if err != nil {
		return "", usage("home folder not found for the key of the journal. hint: export %s=FILE", keyFileVariable)
	}
	return file, nil
}

func shownFolder() string {
	switch runtime.GOOS {
	case "darwin":
		return "~/Library/Application Support/salve/journal"
	case "windows":
		return `%LocalAppData%\salve\journal`
	}
	return "$XDG_STATE_HOME/salve/journal or ~/.local/state/salve/journal"
}

// atHome is the journal of the user who runs the process.
func (a *app) atHome() (*journal.Location, error) {
	folder, err := a.stateFolder("journal")
	if err != nil {
		return nil, usage("home folder not found. hint: --journal FOLDER keeps the journal elsewhere")
	}
	return a.inFolder(folder)
}

// stateFolder is where the user who runs the process keeps something from one
// run to the next.
func (a *app) stateFolder(what string) (string, error) {
	if state := a.lookup("XDG_STATE_HOME"); filepath.IsAbs(state) && runtime.GOOS != "darwin" {
		return filepath.Join(state, "salve", what), nil
	}
	if runtime.GOOS == "windows" {
		local, err := os.UserCacheDir() // %LocalAppData%
		return filepath.Join(local, "salve", what), err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("home folder not found: %w", err)
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support", "salve", what), nil
	}
	return filepath.Join(home, ".local", "state", "salve", what), nil
}
