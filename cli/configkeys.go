package cli

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"salve/journal/configmap"
	"salve/runbooks/recreatepool"
)

// configKey is a flag that a configuration file may give: what is the same on each day, and nothing that says what is
// done to which target.
type configKey struct {
	// check finds an invalid value, whatever the command is.
	check func(text string) error
	// file: the value is a path. It may begin with ~, and is relative to the folder of the configuration.
	file bool
}

// configKeys are those that there are.
func configKeys() map[string]configKey {
	keys := map[string]configKey{
		"cloud":             {check: knownCloud},
		"arm-endpoint":      {check: httpsURL},
		"arm-audience":      {check: oneWord},
		"authority-host":    {check: httpsURL},
		"arm-ca":            {check: oneWord, file: true},
		"kubeconfig":        {check: oneWord, file: true},
		"context":           {check: oneWord},
		"journal-namespace": {check: func(text string) error { return checkLocation(text, configmap.DefaultLease) }},
		"lease-duration":    {check: duration(leaseDuration)},
		"retention":         {check: duration(retentionAge)},
		"plain":             {check: trueOrFalse},
		"no-color":          {check: trueOrFalse},
	}
	for _, named := range clusterSettings() {
		if named.flag != "cluster" {
			keys[named.flag] = configKey{check: func(text string) error {
				return value{named, &recreatepool.Inputs{}}.Set(text)
			}}
		}
	}
	return keys
}

func trueOrFalse(text string) error {
	if _, err := strconv.ParseBool(text); err != nil {
		return errors.New("it must be true or false")
	}
	return nil
}

// oneWord is a name that somebody else knows: it can't be checked here further than that it can be shown.
func oneWord(text string) error {
	if strings.TrimSpace(text) != text || strings.ContainsFunc(text, unicode.IsControl) {
		return errors.New("it must be one line without control characters")
	}
	return nil
}

func duration(check func(time.Duration) error) func(string) error {
	return func(text string) error {
		span, err := time.ParseDuration(text)
		if err != nil {
			return errors.New("it must be a duration such as 30s or 2160h")
		}
		return check(span)
	}
}

func leaseDuration(span time.Duration) error {
	if span <= 0 {
		return errors.New("it must be above 0")
	}
	return checkLocation(configmap.DefaultNamespace, span)
}

func retentionAge(age time.Duration) error {
	if age < 0 {
		return errors.New("it must be 0 or more")
	}
	return nil
}

// checkLocation finds an invalid place of a journal in a cluster.
func checkLocation(namespace string, lease time.Duration) error {
	_, err := configmap.New(configmap.Options{Namespace: namespace, Lease: lease})
	return err
}

// fileOf is the file that a configuration names: in the home folder with ~, else seen from the configuration.
func (a *app) fileOf(configuration, name string) string {
	if rest, is := strings.CutPrefix(name, "~/"); is && a.lookup("HOME") != "" {
		return filepath.Join(a.lookup("HOME"), rest)
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(configuration), name)
}
