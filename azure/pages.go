package azure

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// pages reads a list page by page until visit says to stop or there is no next
// link. Each attempt has a pager of its own, which goes on from the last link: a
// pager that has failed gives the same error ever after.
func pages[Page any](ctx context.Context, c *Client, what string, begin func() *runtime.Pager[Page], link func(Page) *string, visit func(Page) (more bool)) error {
	last := ""
	for {
		var page Page
		err := c.read(ctx, what, func(ctx context.Context) error {
			pager := begin()
			if err := forward(ctx, pager, last); err != nil {
				return err
			}
			var err error
			page, err = pager.NextPage(ctx)
			return err
		})
		if err != nil || !visit(page) {
			return err
		}
		if last = value(link(page)); last == "" {
			return nil
		}
	}
}

// forward makes a new pager go on from a link, as from a page that was read.
func forward[Page any](ctx context.Context, pager *runtime.Pager[Page], link string) error {
	if link == "" {
		return nil
	}
	read, err := json.Marshal(map[string]string{"nextLink": link})
	if err != nil {
		return err
	}
	if err := pager.UnmarshalJSON(read); err != nil {
		return err
	}
	_, err = pager.NextPage(ctx) // gives that page, and asks nobody
	return err
}
