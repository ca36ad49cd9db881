package recreatepool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"k8s.io/utils/clock"

	"salve/azure"
)

const (
	millionEvents = 1_000_000
	eventsPerPage = 1000
)

// endlessLog answers Activity Log queries with events that are never enough,
// page by page, so that all of them are read.
type endlessLog struct {
	page  []byte
	pages int
	// peak is the largest heap that was seen when a page was asked for.
	peak uint64
}

func newEndlessLog() *endlessLog {
	var events []json.RawMessage
	for i := range eventsPerPage {
		events = append(events, fmt.Appendf(nil, `{"eventDataId":"e-%d","correlationId":"c","eventTimestamp":"2026-03-01T12:00:00Z",
			"operationName":{"value":"Microsoft.Compute/virtualMachineScaleSets/write"},
			"status":{"value":"Failed"},"level":"Error",
			"resourceId":"%s","properties":{"statusMessage":"{\"error\":{\"code\":\"AllocationFailed\",\"message\":\"no capacity in this zone\"}}"}}`, i, setID))
	}
	page, err := json.Marshal(events)
	if err != nil {
		panic(err)
	}
	return &endlessLog{page: page}
}

// Do answers with the next page.
func (l *endlessLog) RoundTrip(request *http.Request) (*http.Response, error) {
	var memory runtime.MemStats
	if l.pages%100 == 0 {
		runtime.ReadMemStats(&memory)
		l.peak = max(l.peak, memory.HeapInuse)
	}
	l.pages++
	next := ""
	if l.pages%(millionEvents/eventsPerPage) != 0 {
		next = `,"nextLink":"https://management.azure.com/next?page=` + strconv.Itoa(l.pages) + `"`
	}
	body := io.MultiReader(bytes.NewReader([]byte(`{"value":`)), bytes.NewReader(l.page),
		bytes.NewReader([]byte(next+`}`)))
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(body), Request: request},
		nil
}

type constantToken struct{}

func (constantToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "t", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// BenchmarkFailedWritesAmongAMillionEvents reads a million events; the peer is the
// same bytes through encoding/json alone, into the fields that are asked for.
func BenchmarkFailedWritesAmongAMillionEvents(b *testing.B) {
	for b.Loop() {
		log := newEndlessLog()
		client, err := azure.New(azure.Options{Subscription: subscription, Credential: constantToken{}, Transport: log,
			Clock: clock.RealClock{}})
		if err != nil {
			b.Fatal(err)
		}
		r := &recreation{World: World{Azure: client, Clock: clock.RealClock{}}, Inputs: inputs()}
		runtime.GC()
		began := time.Now()
		seen := wedgeOf()
		err = r.readActivity(context.Background(), "MC_fleet", began.Add(-time.Hour), seen.countWrite)
		took := time.Since(began)
		if err != nil || seen.enough() || log.pages != millionEvents/eventsPerPage {
			b.Fatalf("%d failed writes after %d pages: %v", len(seen.Failed), log.pages, err)
		}
		b.ReportMetric(took.Seconds(), "s/million")
		b.ReportMetric(float64(log.peak)/(1<<20), "peak-heap-MiB")
		b.ReportMetric(took.Seconds()/plainDecode(b, log.page).Seconds(), "of-plain-json")
	}
}

func plainDecode(b *testing.B, page []byte) time.Duration {
	began := time.Now()
	for range millionEvents / eventsPerPage {
		var events []struct {
			EventDataID   string    `json:"eventDataId"`
			EventTime     time.Time `json:"eventTimestamp"`
			OperationName struct{ Value string }
			Status        struct{ Value string }
			ResourceID    string
			Properties    map[string]string
		}
		if err := json.Unmarshal(page, &events); err != nil || len(events) != eventsPerPage {
			b.Fatal(len(events), err)
		}
	}
	return time.Since(began)
}
