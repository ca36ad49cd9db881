package permit_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"salve/internal/apierr"
	"salve/internal/permit"
)

// wire answers every request that reaches it, and counts them.
type wire struct{ sent []*http.Request }

func (w *wire) RoundTrip(request *http.Request) (*http.Response, error) {
	w.sent = append(w.sent, request)
	if request.URL.Path == "/lost" {
		return nil, errors.New("connection reset")
	}
	return &http.Response{StatusCode: http.StatusAccepted, Body: io.NopCloser(strings.NewReader(""))}, nil
}

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func terms() permit.Terms {
	return permit.Terms{
		Run: "r1", Step: "delete-pool", Attempt: 1, Epoch: 7, Expires: noon.Add(time.Minute),
		Now: func() time.Time { return noon }, Lease: func(context.Context) error { return nil },
	}
}

func TestNoChangeLeavesWithoutLivePermit(t *testing.T) {
	lost := apierr.New(apierr.Conflict, "lease lost")
	for name, row := range map[string]struct {
		method string
		permit func(*permit.Terms) // nil: none in the context
		header http.Header
		sent   bool
	}{
		"a read needs none":                {method: http.MethodGet, sent: true},
		"a change without a permit":        {method: http.MethodDelete},
		"a change with an unknown verb":    {method: "PURGE"},
		"a change under a permit":          {method: http.MethodPut, permit: func(*permit.Terms) {}, sent: true},
		"a change under an expired permit": {method: http.MethodPut, permit: func(t *permit.Terms) { t.Expires = noon }},
		"a change after the lease was lost": {method: http.MethodPatch,
			permit: func(t *permit.Terms) { t.Lease = func(context.Context) error { return lost } }},
		"a read that asks for another protocol": {method: http.MethodGet, header: http.Header{"Upgrade": {"websocket"}}},
		"an exempt request that asks for one":   {method: http.MethodPost, header: http.Header{"Upgrade": {"SPDY/3.1"}}},
		"an exempt request needs none":          {method: http.MethodPost, sent: true},
		"a lower-case method is not a reader":   {method: "get"},
	} {
		t.Run(name, func(t *testing.T) {
			base := &wire{}
			transport := &permit.Transport{Base: base, Header: "Audit-ID", Exempt: func(request *http.Request) (string, bool) {
				return "access review", request.Method == http.MethodPost
			}}
			ctx := t.Context()
			if row.permit != nil {
				granted := terms()
				row.permit(&granted)
				ctx = permit.NewContext(ctx, permit.Mint(granted))
			}
			body := &closing{}
			request, err := http.NewRequestWithContext(ctx, row.method, "https://cluster/api/v1/nodes", body)
			if err != nil {
				t.Fatal(err)
			}
			if row.header != nil {
				request.Header = row.header
			}
			response, err := transport.RoundTrip(request)
			if response != nil {
				_ = response.Body.Close()
			}
			if sent := len(base.sent) == 1; sent != row.sent || (err == nil) != row.sent {
				t.Fatalf("sent: %v, error %v", sent, err)
			}
			if !row.sent && (apierr.ClassOf(err) != apierr.Conflict || !body.closed) {
				t.Errorf("class %s of %v, body closed: %v", apierr.ClassOf(err), err, body.closed)
			}
			if row.permit != nil && row.sent && base.sent[0].Header.Get("Audit-ID") == "" {
				t.Error("the permit's ID did not go with the change")
			}
		})
	}
}

type closing struct{ closed bool }

func (c *closing) Read([]byte) (int, error) { return 0, io.EOF }
func (c *closing) Close() error             { c.closed = true; return nil }

func TestChangesAreNotedWithTheirAnswer(t *testing.T) {
	var trail []permit.Request
	base := &wire{}
	granted := terms()
	granted.Note = func(sent permit.Request) func(permit.Request) {
		if sent.Status != 0 || sent.Path == "" || len(base.sent) != len(trail) {
			t.Errorf("noted %+v, when %d were sent", sent, len(base.sent))
		}
		return func(answer permit.Request) { trail = append(trail, answer) }
	}
	p := permit.Mint(granted)
	transport := &permit.Transport{Base: base}
	for _, path := range []string{"/api/v1/nodes/a%2Fb?token=secret", "/lost"} {
		request, err := http.NewRequestWithContext(permit.NewContext(t.Context(), p), http.MethodDelete,
			"https://cluster"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if response, err := transport.RoundTrip(request); err == nil {
			_ = response.Body.Close()
		}
	}
	want := []permit.Request{
		{Method: "DELETE", Path: "/api/v1/nodes/a%2Fb", Permit: p.ID(), Status: http.StatusAccepted},
		{Method: "DELETE", Path: "/lost", Permit: p.ID(), Class: apierr.Unclassified},
	}
	if len(trail) != len(want) || trail[0] != want[0] || trail[1] != want[1] {
		t.Errorf("the trail is %+v, want %+v", trail, want)
	}
}

func TestZeroPermitIsNobodys(t *testing.T) {
	var none permit.Permit
	if none.ID() != "" || none.Run() != "" || none.Authorize(t.Context()) == nil {
		t.Errorf("the zero permit has the ID %q, is of run %q, and authorizes", none.ID(), none.Run())
	}
	if p := permit.Mint(terms()); p.Run() != "r1" || p.ID() == "" {
		t.Errorf("a permit has the ID %q, is of run %q", p.ID(), p.Run())
	}
}
