package azure_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"salve/azure"
)

// TestErrorCodesOfTheActivityLog are read from a text that holds JSON, and from nothing else.
func TestErrorCodesOfTheActivityLog(t *testing.T) {
	text := func(message string) string {
		raw, err := json.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	for name, row := range map[string]struct{ message, want string }{
		"a code":                  {text(`{"error":{"code":"QuotaExceeded","message":"no more"}}`), "QuotaExceeded"},
		"no message":              {"null", ""},
		"an empty message":        {`""`, ""},
		"no JSON":                 {text("QuotaExceeded"), ""},
		"another shape":           {text(`{"error":"QuotaExceeded"}`), ""},
		"a code in the text only": {text(`{"error":{"code":"Conflict","message":"QuotaExceeded"}}`), "Conflict"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := roundTrip(func(request *http.Request) (*http.Response, error) {
				body := fmt.Sprintf(`{"value":[{"eventDataId":"e1","properties":{"statusMessage":%s}}]}`, row.message)
				return &http.Response{
					StatusCode: http.StatusOK, Header: http.Header{}, Request: request, Body: io.NopCloser(strings.NewReader(body)),
				}, nil
			})
			client := clientOf(t, "https://arm.example", answer, staticToken{})
			query, events := azure.ActivityQuery{From: time.Now(), To: time.Now(), Of: "fleet"}, 0
			err := client.ReadActivity(context.Background(), query, func(event azure.Activity) bool {
				if events++; event.ErrorCode != row.want {
					t.Errorf("code %q, want %q", event.ErrorCode, row.want)
				}
				return true
			})
			if err != nil || events != 1 {
				t.Errorf("%d events, %v", events, err)
			}
		})
	}
}
