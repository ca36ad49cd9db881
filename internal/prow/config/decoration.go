package config

import (
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
)

// Decoration is what Prow's utilities around a job are told.
type Decoration struct {
	Position diagnostic.Position
	// GCSCredentials and S3Credentials are Secrets; an empty value switches a default
	// off.
	GCSCredentials, S3Credentials *Located
	// ServiceAccount is for pods that name none.
	ServiceAccount *Located
	SSHKeys        []Located
	Cookiefile     *Located
	// OauthToken and AppKey are Secrets with a key in each.
	OauthToken, AppKey *SecretKey
	SkipCloning        *bool
	// The timeouts are nil where those of plank count.
	PodPendingTimeout, PodRunningTimeout, PodUnscheduledTimeout *time.Duration

	images *utilityImages
	upload *upload
}

// SecretKey is one entry of a Secret.
type SecretKey struct {
	Name, Key Located
}

type utilityImages struct{ clonerefs, initupload, entrypoint, sidecar string }

type upload struct{ bucket, strategy, org, repo string }

// decorationEntry is a default for the jobs of some repositories and clusters.
type decorationEntry struct {
	repository, cluster string
	decoration          *Decoration
}

// decoration reads one; nil where there is none.
func (r *reader) decoration(f field) *Decoration {
	if resolve(f.value) == nil {
		return nil
	}
	d := &Decoration{Position: r.at(f.value)}
	r.fields(f.value, f.path(), func(f field) bool {
		switch f.name {
		case "gcs_credentials_secret":
			d.GCSCredentials = r.located(f)
		case "s3_credentials_secret":
			d.S3Credentials = r.located(f)
		case "default_service_account_name":
			d.ServiceAccount = r.located(f)
		case "ssh_key_secrets":
			d.SSHKeys = nil
			r.each(f.value, f.path(), func(item *yaml.Node, path string) {
				d.SSHKeys = append(d.SSHKeys, Located{Value: r.textOf(item, path), Position: r.at(item)})
			})
		case "cookiefile_secret":
			d.Cookiefile = r.located(f)
		case "oauth_token_secret":
			d.OauthToken = r.secretKey(f)
		case "github_app_private_key_secret":
			d.AppKey = r.secretKey(f)
		case "skip_cloning":
			if value, ok := r.truth(f); ok {
				d.SkipCloning = &value
			}
		default:
			return r.decorationTimeout(d, f) || r.decorationBasis(d, f)
		}
		return true
	})
	return d
}

func (r *reader) decorationTimeout(d *Decoration, f field) bool {
	switch f.name {
	case "pod_pending_timeout":
		d.PodPendingTimeout = r.duration(f)
	case "pod_running_timeout":
		d.PodRunningTimeout = r.duration(f)
	case "pod_unscheduled_timeout":
		d.PodUnscheduledTimeout = r.duration(f)
	default:
		return false
	}
	return true
}

// decorationBasis reads what Prow refuses to decorate without, and knows the rest.
func (r *reader) decorationBasis(d *Decoration, f field) bool {
	switch f.name {
	case "utility_images":
		d.images = r.utilityImages(f)
		return true
	case "gcs_configuration":
		d.upload = r.upload(f)
		return true
	}
	return slices.Contains([]string{"timeout", "grace_period", "resources", "ssh_host_fingerprints", "blobless_fetch",
		"github_api_endpoints", "github_app_id", "censor_secrets", "censoring_options", "upload_ignores_interrupts",
		"set_limit_equals_memory_request", "default_memory_request", "run_as_user", "run_as_group", "fs_group",
		"sparse_checkout_files", "scheduling_options"}, f.name)
}

func (r *reader) utilityImages(f field) *utilityImages {
	if resolve(f.value) == nil {
		return nil
	}
	images := &utilityImages{}
	r.fields(f.value, f.path(), func(f field) bool {
		switch f.name {
		case "clonerefs":
			images.clonerefs = r.text(f)
		case "initupload":
			images.initupload = r.text(f)
		case "entrypoint":
			images.entrypoint = r.text(f)
		case "sidecar":
			images.sidecar = r.text(f)
		default:
			return false
		}
		return true
	})
	return images
}

func (r *reader) upload(f field) *upload {
	if resolve(f.value) == nil {
		return nil
	}
	var upload upload
	r.fields(f.value, f.path(), func(f field) bool {
		switch f.name {
		case "bucket":
			upload.bucket = r.text(f)
		case "path_strategy":
			upload.strategy = r.text(f)
		case "default_org":
			upload.org = r.text(f)
		case "default_repo":
			upload.repo = r.text(f)
		case "path_prefix", "mediatypes", "job_url_prefix", "local_output_dir", "compress_file_types":
		default:
			return false
		}
		return true
	})
	return &upload
}

func (r *reader) secretKey(f field) *SecretKey {
	if resolve(f.value) == nil {
		return nil
	}
	secret := &SecretKey{}
	r.fields(f.value, f.path(), func(f field) bool {
		switch f.name {
		case "name":
			set(&secret.Name, r.located(f))
		case "key":
			set(&secret.Key, r.located(f))
		default:
			return false
		}
		return true
	})
	return secret
}

// decorationsByRepository reads the older form of defaults, in the order in which
// they are merged: all, then orgs, then repositories.
func (r *reader) decorationsByRepository(f field) []decorationEntry {
	var entries []decorationEntry
	r.entries(f.value, f.path(), func(f field) {
		entries = append(entries, decorationEntry{repository: f.name, decoration: r.decoration(f)})
	})
	rank := func(entry decorationEntry) int {
		switch {
		case entry.repository == "*":
			return 0
		case !strings.Contains(entry.repository, "/"):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(entries, func(a, b decorationEntry) int { return rank(a) - rank(b) })
	return entries
}

func (r *reader) decorationEntries(f field) []decorationEntry {
	var entries []decorationEntry
	r.each(f.value, f.path(), func(item *yaml.Node, path string) {
		var entry decorationEntry
		r.fields(item, path, func(f field) bool {
			switch f.name {
			case "repo":
				entry.repository = r.text(f)
			case "cluster":
				entry.cluster = r.text(f)
			case "config":
				entry.decoration = r.decoration(f)
			default:
				return false
			}
			return true
		})
		entries = append(entries, entry)
	})
	return entries
}
