package azure

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"salve/internal/apierr"
)

// pageLimit bounds the pages of one list: an answer that always names a next one
// would otherwise be followed for ever.
const pageLimit = 100_000

// address is the URL of a path at the ARM endpoint.
func (c *Client) address(path, version string, query url.Values) string {
	all := url.Values{"api-version": {version}}
	for key, values := range query {
		all[key] = values
	}
	// ARM takes %20 for a space, and not +.
	return runtime.JoinPaths(c.arm.Endpoint(), path) + "?" + strings.ReplaceAll(all.Encode(), "+", "%20")
}

// get asks for one JSON document, once.
func (c *Client) get(ctx context.Context, address string, into any) error {
	request, err := runtime.NewRequest(ctx, http.MethodGet, address)
	if err != nil {
		return &apierr.Error{Class: apierr.Terminal, Err: err}
	}
	request.Raw().Header.Set("Accept", "application/json")
	response, err := c.arm.Pipeline().Do(request)
	if err != nil {
		return err
	}
	if !runtime.HasStatusCode(response, http.StatusOK) {
		return runtime.NewResponseError(response)
	}
	body, err := runtime.Payload(response)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return apierr.New(apierr.Terminal, "answer is not as documented: %w", err)
	}
	return nil
}

// send sends a change, once, with a body unless that is nil. What it came to is to be read.
func (c *Client) send(ctx context.Context, method, address string, body any) error {
	request, err := runtime.NewRequest(ctx, method, address)
	if err != nil {
		return &apierr.Error{Class: apierr.Terminal, Err: err}
	}
	request.Raw().Header.Set("Accept", "application/json")
	if body != nil {
		if err := runtime.MarshalAsJSON(request, body); err != nil {
			return apierr.New(apierr.Terminal, "encoding the request: %w", err)
		}
	}
	response, err := c.arm.Pipeline().Do(request)
	if err != nil {
		return err
	}
	if !runtime.HasStatusCode(response, http.StatusOK, http.StatusCreated, http.StatusAccepted) {
		return runtime.NewResponseError(response)
	}
	_, err = runtime.Payload(response)
	return err
}

// list reads a list page by page until visit says to stop, or fails. A page that
// can't be read is asked for again; those before it are not.
func list[Item any](
	ctx context.Context, c *Client, doing, address string, visit func(Item) (more bool, err error),
) error {
	for range pageLimit {
		var page struct {
			Value    *[]Item `json:"value"`
			NextLink string  `json:"nextLink"`
		}
		err := c.read(ctx, doing, func(ctx context.Context) error {
			page.Value, page.NextLink = nil, ""
			return c.get(ctx, address, &page)
		})
		switch {
		case err != nil:
			return err
		case page.Value == nil:
			// A page without items has an empty list; one without a list is no answer.
			return apierr.New(apierr.Terminal, "%s: the answer has no list, not even an empty one", doing)
		}
		for _, item := range *page.Value {
			if more, err := visit(item); err != nil || !more {
				return err
			}
		}
		switch page.NextLink {
		case "":
			return nil
		case address:
			return apierr.New(apierr.Terminal, "%s: the next page is the same page", doing)
		}
		address = page.NextLink
	}
	return apierr.New(apierr.Terminal, "%s: more than %d pages", doing, pageLimit)
}
