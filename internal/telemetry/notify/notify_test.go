package notify_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"salve/internal/telemetry/notify"
	"salve/internal/telemetry/telemetrytest"
)

// webhook takes messages, and answers with one code after the other; the last one is repeated. With away it is not
// there.
type webhook struct {
	away    error
	codes   []int
	mu      sync.Mutex
	bodies  []string
	headers []http.Header
}

const address = "https://hooks.example.com/T0/SECRET"

func (w *webhook) RoundTrip(request *http.Request) (*http.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	raw, err := io.ReadAll(request.Body)
	if err != nil || w.away != nil {
		return nil, errors.Join(err, w.away)
	}
	w.bodies, w.headers = append(w.bodies, string(raw)), append(w.headers, request.Header)
	code := http.StatusOK
	if len(w.codes) > 0 {
		code = w.codes[0]
		w.codes = w.codes[min(1, len(w.codes)-1):]
	}
	return &http.Response{
		StatusCode: code, Status: fmt.Sprint(code), Body: http.NoBody, Request: request,
		Header: http.Header{"Location": {"https://elsewhere.example.com/"}},
	}, nil
}

// notifier reads a configuration; $URL in it is read from the environment.
func notifier(config, url string, w *webhook) (*notify.Notifier, error) {
	return notify.New(notify.Options{
		Config: []byte(config), Source: "salve@ci-7", Clock: clock.RealClock{}, Transport: w,
		Runbooks: []string{"shut-valve", "open-valve"},
		Lookups: notify.Lookups{
			Env: func(name string) string {
				return map[string]string{"URL": url, "TOKEN": "t0ken", "LINES": "SECRET\nX-Evil: yes"}[name]
			},
			File: func(path string) ([]byte, error) {
				if path == "/run/secrets/url" {
					return []byte(url + "\n"), nil
				}
				return nil, errors.New("open " + path + ": no such file or directory")
			},
		},
	})
}

// told executes a run and gives what the end of the process says.
func told(t *testing.T, config string, w *webhook, run telemetrytest.Run) error {
	t.Helper()
	var said error
	synctest.Test(t, func(t *testing.T) {
		n, err := notifier(config, address, w)
		if err != nil {
			t.Fatal(err)
		}
		run.Watch = n.Tell
		run.Execute(t)
		said = n.Close(t.Context())
	})
	return said
}

func TestEachOutcomeIsACloudEvent(t *testing.T) {
	w := &webhook{}
	config := "notifications: [{url: {env: URL}, bearer: {env: TOKEN}}]"
	if err := told(t, config, w, telemetrytest.Run{Name: "run-1", Asks: "drain"}); err != nil {
		t.Fatal(err)
	}
	if len(w.bodies) != 1 {
		t.Fatalf("%d messages", len(w.bodies))
	}
	var event struct {
		SpecVersion, Type, Source, ID, Subject string
		Time                                   time.Time
		Data                                   notify.Message
	}
	if err := json.Unmarshal([]byte(w.bodies[0]), &event); err != nil {
		t.Fatalf("%v: %s", err, w.bodies[0])
	}
	if event.SpecVersion != "1.0" || event.Type != "salve.run.outcome" || event.Source != "/salve/salve@ci-7" ||
		event.Subject != "valve/7" || !strings.HasPrefix(event.ID, "run-1/needs-attention/") || event.Time.IsZero() {
		t.Errorf("%+v", event)
	}
	if event.Data.Run != "run-1" || event.Data.Question == "" || event.Data.Outcome != "needs-attention" {
		t.Errorf("%+v", event.Data)
	}
	if header := w.headers[0]; header.Get("Content-Type") != "application/cloudevents+json" ||
		header.Get("Authorization") != "Bearer t0ken" {
		t.Errorf("%v", header)
	}
}

func TestEachFormatIsJSONAndTellsTheOutcome(t *testing.T) {
	for name, config := range map[string]string{
		"slack":    "notifications: [{format: slack, url: {file: /run/secrets/url}}]",
		"teams":    "notifications: [{format: teams, url: {env: URL}}]",
		"template": `notifications: [{template: '{"summary": {{json .Title}}, "run": {{json .Run}}}', url: {env: URL}}]`,
	} {
		t.Run(name, func(t *testing.T) {
			w := &webhook{}
			if err := told(t, config, w, telemetrytest.Run{Name: "run-1", Breaks: "close"}); err != nil {
				t.Fatal(err)
			}
			if len(w.bodies) != 1 || !json.Valid([]byte(w.bodies[0])) {
				t.Fatalf("%q", w.bodies)
			}
			for _, want := range []string{"failed: shut-valve on valve 7", "run-1"} {
				if !strings.Contains(w.bodies[0], want) {
					t.Errorf("%q is not in %s", want, w.bodies[0])
				}
			}
		})
	}
}

func TestOnlyWhatIsAskedForIsTold(t *testing.T) {
	config := "notifications: [{url: {env: URL}, outcomes: [failed, needs-attention], runbooks: [shut-valve]}]"
	for name, row := range map[string]struct {
		run  telemetrytest.Run
		want int
	}{
		"a failure": {telemetrytest.Run{Breaks: "close"}, 1},
		"a success": {telemetrytest.Run{}, 0},
	} {
		w := &webhook{}
		if err := told(t, config, w, row.run); err != nil || len(w.bodies) != row.want {
			t.Errorf("%s: %d messages, %v", name, len(w.bodies), err)
		}
	}
	w := &webhook{}
	other := strings.Replace(config, "shut-valve", "open-valve", 1)
	if err := told(t, other, w, telemetrytest.Run{Breaks: "close"}); err != nil || len(w.bodies) != 0 {
		t.Errorf("a run of another runbook: %d messages, %v", len(w.bodies), err)
	}
}

func TestARefusalIsSaidWithoutTheAddress(t *testing.T) {
	for name, row := range map[string]struct {
		codes []int
		sent  int
		says  string
	}{
		"one that clears":      {[]int{503, 200}, 2, ""},
		"too many requests":    {[]int{429, 429, 200}, 3, ""},
		"one that does not":    {[]int{500}, 3, "refused: 500"},
		"one for good":         {[]int{404}, 1, "refused: 404"},
		"a redirect elsewhere": {[]int{307}, 1, "refused: 307"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &webhook{codes: row.codes}
			err := told(t, "notifications: [{url: {env: URL}}]", w, telemetrytest.Run{Name: "run-1"})
			if len(w.bodies) != row.sent {
				t.Errorf("it was sent %d times, want %d", len(w.bodies), row.sent)
			}
			switch {
			case row.says == "" && err != nil, row.says != "" && (err == nil || !strings.Contains(err.Error(), row.says)):
				t.Errorf("closing says %v", err)
			case err != nil && strings.Contains(err.Error(), "SECRET"):
				t.Errorf("the address is told: %v", err)
			}
		})
	}
	w := &webhook{away: errors.New("connection refused")}
	err := told(t, "notifications: [{url: {env: URL}}]", w, telemetrytest.Run{})
	if err == nil || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("a webhook that is away: %v", err)
	}
}

func TestSecretsAreNotTold(t *testing.T) {
	w := &webhook{}
	if err := told(t, "notifications: [{url: {env: URL}}]", w, telemetrytest.Run{Blind: true}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(w.bodies[0], telemetrytest.Secret) || !strings.Contains(w.bodies[0], "undecided") {
		t.Error(w.bodies[0])
	}
}

// TestATemplateIsTriedOverAllKinds of messages: neither one that works as long as no reason has a quote in it, nor one
// for some outcomes, is found out when somebody has to be told.
func TestATemplateIsTriedOverAllKinds(t *testing.T) {
	for template, want := range map[string]string{
		`{"x": "{{.Reason}}"}`:                                                    "does not give JSON",
		`{{if eq .Outcome "failed"}}{}{{end}}`:                                    "does not give JSON",
		`{{if eq .Outcome "failed"}}{}{{else}}{{.Target.Size}}{{end}}`:            "Size",
		`{"x": {{json .Reason}}{{if .Question}}, "y": {{.Question}}{{end}}}`:      "does not give JSON",
		`{"x": {{json .Reason}}{{if .Question}}, "y": {{json .Question}}{{end}}}`: "",
	} {
		synctest.Test(t, func(t *testing.T) {
			n, err := notifier("notifications: [{url: {env: URL}, template: '"+template+"'}]", address, nil)
			if err == nil {
				_ = n.Close(t.Context())
			}
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", template, err, want)
			}
		})
	}
}

func TestConfigurationIsStrict(t *testing.T) {
	for config, want := range map[string]string{
		"":                  "none is given",
		"notifications: []": "none is given",
		"notifications: [{url: {env: URL}, formt: slack}]":                   `unknown field "formt"`,
		"notifications: [{url: {env: URL}, format: irc}]":                    `notifications[0]: unknown format "irc"`,
		"notifications: [{url: {env: URL}, outcomes: [fail]}]":               `unknown outcome "fail"`,
		"notifications: [{url: {}}]":                                         "exactly one of env and file",
		"notifications: [{url: {env: URL, file: /x}}]":                       "exactly one of env and file",
		"notifications: [{url: {env: NONE}}]":                                "environment variable NONE is not set",
		"notifications: [{url: {file: /none}}]":                              "no such file",
		"notifications: [{url: {env: URL}, bearer: {env: NONE}}]":            "bearer: environment variable NONE is not set",
		"notifications: [{url: {env: URL}, template: '{{'}]":                 "template",
		"notifications: [{url: {env: URL}, template: 'no'}]":                 "does not give JSON",
		"notifications: [{url: {env: URL}, bearer: {env: LINES}}]":           "bearer: it has more than one line",
		"notifications: [{url: {env: URL}, runbooks: [shut-valves]}]":        `unknown runbook "shut-valves"`,
		`notifications: [{url: {env: URL}, template: '{{json .Runs}}'}]`:     "Runs",
		`notifications: [{url: {env: URL}, format: slack, template: '"x"'}]`: "both given",
	} {
		_, err := notifier(config, address, nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v, want %s", config, err, want)
		}
	}
	for _, url := range []string{"http://hooks.example.com/SECRET", "ftp://x/SECRET", "not a url SECRET"} {
		_, err := notifier("notifications: [{url: {env: URL}}]", url, nil)
		if err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
