package stranded

import (
	"context"
	"net/http"
	"time"

	"k8s.io/client-go/rest"

	"salve/internal/apierr"
)

// serverTime is what the API server's clock says. Ages of objects are told by it alone: the server dates what is
// created, and clocks of two machines are never compared. It is whole seconds, as creation timestamps are.
func (s *Search) serverTime(ctx context.Context) (now time.Time, _ error) {
	client, _ := s.Client.CoreV1().RESTClient().(*rest.RESTClient)
	if client == nil {
		return now, apierr.New(apierr.Terminal, "reading the API server's clock: there is no client to make requests with")
	}
	err := s.Read(ctx, "reading the API server's clock", func(ctx context.Context) (err error) {
		now, err = dateOf(ctx, client)
		return err
	})
	return now, err
}

// dateOf is the date of an answer (RFC 9110, 6.6.1), whatever the answer is.
func dateOf(ctx context.Context, client *rest.RESTClient) (time.Time, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, client.Get().AbsPath("/version").URL().String(), nil)
	if err != nil {
		return time.Time{}, apierr.New(apierr.Terminal, "%w", err)
	}
	sender := client.Client
	if sender == nil {
		sender = http.DefaultClient
	}
	response, err := sender.Do(request)
	if err != nil {
		return time.Time{}, err
	}
	defer response.Body.Close()
	date, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil || response.Header.Get("Age") != "" {
		return time.Time{}, apierr.New(apierr.Terminal, "the answer has no date of its own: Date %q, Age %q",
			response.Header.Get("Date"), response.Header.Get("Age"))
	}
	return date, nil
}
