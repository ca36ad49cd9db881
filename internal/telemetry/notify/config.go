package notify

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"text/template"
	"unicode"

	"sigs.k8s.io/yaml"

	"salve/runbook"
)

// Config is the file of --notify.
type Config struct {
	Notifications []Notification `json:"notifications"`
}

// Notification is one place that is told.
type Notification struct {
	// Format is cloudevents, slack or teams; cloudevents when empty. A Template takes its place: Go's text/template over
	// the data of the CloudEvent, with the function json.
	Format   string `json:"format,omitempty"`
	Template string `json:"template,omitempty"`
	// URL is where it goes. Bearer is sent as Authorization: Bearer, where it is given.
	URL    Source  `json:"url"`
	Bearer *Source `json:"bearer,omitempty"`
	// Outcomes are those that are told; all when empty.
	Outcomes []runbook.Outcome `json:"outcomes,omitempty"`
	// Runbooks are those whose runs are told; all when empty.
	Runbooks []string `json:"runbooks,omitempty"`
}

// Source is where a secret is: in an environment variable or a file. It is never in the configuration itself.
type Source struct {
	Env  string `json:"env,omitempty"`
	File string `json:"file,omitempty"`
}

// Lookups read secrets.
type Lookups struct {
	Env  func(name string) string
	File func(path string) ([]byte, error)
}

func (s Source) read(from Lookups) (string, error) {
	switch {
	case (s.Env == "") == (s.File == ""):
		return "", errors.New("exactly one of env and file is required")
	case s.Env != "":
		if value := strings.TrimSpace(from.Env(s.Env)); value != "" {
			return value, nil
		}
		return "", fmt.Errorf("environment variable %s is not set", s.Env)
	}
	raw, err := from.File(s.File)
	if err != nil {
		return "", err
	}
	if value := strings.TrimSpace(string(raw)); value != "" {
		return value, nil
	}
	return "", fmt.Errorf("file %s is empty", s.File)
}

// receiver is a notification that is ready to be sent.
type receiver struct {
	name   string // for people: no secret
	url    string
	bearer string
	form   form
	about  Notification
}

// parse reads a configuration. Unknown fields, formats, outcomes and runbooks are errors, and so is a secret that isn't
// there. Runbooks are those that are known; any is when there are none.
func parse(raw []byte, from Lookups, runbooks []string) ([]receiver, error) {
	var config Config
	if err := yaml.UnmarshalStrict(raw, &config); err != nil {
		return nil, err
	}
	if len(config.Notifications) == 0 {
		return nil, errors.New("notifications: none is given")
	}
	var all []receiver
	for i, one := range config.Notifications {
		r, err := one.receiver(from)
		for _, name := range one.Runbooks {
			if err == nil && len(runbooks) > 0 && !slices.Contains(runbooks, name) {
				err = fmt.Errorf("runbooks: unknown runbook %q: must be one of %v", name, runbooks)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("notifications[%d]: %w", i, err)
		}
		r.name = fmt.Sprintf("notifications[%d]", i)
		all = append(all, r)
	}
	return all, nil
}

func (n Notification) receiver(from Lookups) (r receiver, err error) {
	r.about = n
	if r.form, err = n.form(); err != nil {
		return r, err
	}
	for _, outcome := range n.Outcomes {
		if !slices.Contains(runbook.Outcomes(), outcome) {
			return r, fmt.Errorf("outcomes: unknown outcome %q: must be one of %v", outcome, runbook.Outcomes())
		}
	}
	if r.url, err = n.URL.read(from); err != nil {
		return r, fmt.Errorf("url: %w", err)
	}
	if err := checkURL(r.url); err != nil {
		return r, fmt.Errorf("url: %w", err)
	}
	if n.Bearer != nil {
		if r.bearer, err = n.Bearer.read(from); err != nil {
			return r, fmt.Errorf("bearer: %w", err)
		}
		if strings.ContainsFunc(r.bearer, unicode.IsControl) {
			return r, errors.New("bearer: it has more than one line, or control characters")
		}
	}
	return r, nil
}

// checkURL takes https, and http to this machine. Its errors do not show the address.
func checkURL(text string) error {
	address, err := url.Parse(text)
	if err != nil || address.Host == "" {
		return errors.New("not a URL")
	}
	ip := net.ParseIP(address.Hostname())
	local := address.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if address.Scheme != "https" && (address.Scheme != "http" || !local) {
		return fmt.Errorf("scheme %q: must be https", address.Scheme)
	}
	return nil
}

func (n Notification) form() (form, error) {
	if n.Template != "" {
		if n.Format != "" {
			return form{}, errors.New("format and template are both given")
		}
		parsed, err := template.New("template").Funcs(functions()).Option("missingkey=error").Parse(n.Template)
		if err != nil {
			return form{}, err
		}
		made := form{"application/json", parsed}
		return made, made.check()
	}
	if n.Format == "" {
		n.Format = "cloudevents"
	}
	found, known := forms()[n.Format]
	if !known {
		return form{}, fmt.Errorf("unknown format %q: must be cloudevents, slack or teams", n.Format)
	}
	return found, nil
}
