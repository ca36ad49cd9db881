package prepublish

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// rpmRepository is a repository of dnf and tdnf. «$basearch» in its address stands
// for the architecture.
type rpmRepository struct{ url string }

func (r rpmRepository) String() string { return "rpm " + Shown(r.url) }

// rpmNames are what RPM calls architectures.
func rpmNames() map[string]string {
	return map[string]string{"amd64": "x86_64", "arm64": "aarch64"}
}

func (r rpmRepository) versions(ctx context.Context, from *Reader, architecture string) (index, error) {
	name, known := rpmNames()[architecture]
	if !known {
		return nil, fmt.Errorf("how RPM calls the architecture %s is not known here", architecture)
	}
	root := strings.TrimSuffix(strings.ReplaceAll(r.url, "$basearch", name), "/") + "/"
	raw, err := from.whole(ctx, root+"repodata/repomd.xml")
	if err != nil {
		return nil, err
	}
	var metadata struct {
		Data []struct {
			Type     string `xml:"type,attr"`
			Checksum struct {
				Type  string `xml:"type,attr"`
				Value string `xml:",chardata"`
			} `xml:"checksum"`
			Location struct {
				Href string `xml:"href,attr"`
			} `xml:"location"`
		} `xml:"data"`
	}
	if err := xml.NewDecoder(bytes.NewReader(raw)).Decode(&metadata); err != nil {
		return nil, fmt.Errorf("%srepodata/repomd.xml: %w", Shown(root), err)
	}
	for _, data := range metadata.Data {
		if data.Type != "primary" || data.Checksum.Type != "sha256" {
			continue
		}
		found := index{}
		err := from.verified(ctx, root+data.Location.Href, data.Checksum.Value, func(content io.Reader) error {
			return found.addPrimary(content, name)
		})
		return found, err
	}
	return nil, fmt.Errorf("%s: its metadata names no list of packages with a SHA-256", r)
}

// addPrimary reads the packages of a primary.xml one by one: it may be large.
func (i index) addPrimary(content io.Reader, architecture string) error {
	decoder := xml.NewDecoder(content)
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the list of packages: %w", err)
		}
		start, is := token.(xml.StartElement)
		if !is || start.Name.Local != "package" {
			continue
		}
		var item struct {
			Name         string `xml:"name"`
			Architecture string `xml:"arch"`
			Version      struct {
				Version string `xml:"ver,attr"`
				Release string `xml:"rel,attr"`
			} `xml:"version"`
			Checksum struct {
				Type  string `xml:"type,attr"`
				Value string `xml:",chardata"`
			} `xml:"checksum"`
			Size struct {
				Package int64 `xml:"package,attr"`
			} `xml:"size"`
		}
		if err := decoder.DecodeElement(&item, &start); err != nil {
			return fmt.Errorf("the list of packages: %w", err)
		}
		if item.Architecture != architecture && item.Architecture != "noarch" {
			continue
		}
		one := packaged{version: item.Version.Version + "-" + item.Version.Release, size: item.Size.Package}
		if item.Checksum.Type == "sha256" {
			one.sha256 = item.Checksum.Value
		}
		i[item.Name] = append(i[item.Name], one)
	}
}
