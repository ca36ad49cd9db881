package config

import (
	"fmt"
	"strings"
)

// fits is whether the default is meant for the jobs of a repository in a cluster.
func (e decorationEntry) fits(repository, cluster string) bool {
	if e.cluster != "" && e.cluster != "*" && e.cluster != cluster {
		return false
	}
	if e.repository == "" || e.repository == "*" || e.repository == repository {
		return true
	}
	repository = strings.TrimPrefix(strings.TrimPrefix(repository, "https://"), "http://")
	org, _, _ := strings.Cut(repository, "/")
	return e.repository == repository || e.repository == org
}

// decorationOf is a job's with all defaults that fit merged in: later entries over
// earlier ones, the job's own over all.
func (p Plank) decorationOf(repository, cluster string, own *Decoration) *Decoration {
	var merged *Decoration
	for _, entry := range p.decorations {
		if entry.fits(repository, cluster) {
			merged = entry.decoration.over(merged)
		}
	}
	if merged = own.over(merged); merged == nil {
		return &Decoration{}
	}
	return merged
}

// over is the decoration with the default's values where it has none.
func (d *Decoration) over(def *Decoration) *Decoration {
	switch {
	case d == nil:
		return def
	case def == nil:
		return d
	}
	merged := *d
	inherit(&merged.GCSCredentials, def.GCSCredentials)
	inherit(&merged.S3Credentials, def.S3Credentials)
	inherit(&merged.ServiceAccount, def.ServiceAccount)
	inherit(&merged.Cookiefile, def.Cookiefile)
	inherit(&merged.OauthToken, def.OauthToken)
	inherit(&merged.AppKey, def.AppKey)
	inherit(&merged.SkipCloning, def.SkipCloning)
	inherit(&merged.PodPendingTimeout, def.PodPendingTimeout)
	inherit(&merged.PodRunningTimeout, def.PodRunningTimeout)
	inherit(&merged.PodUnscheduledTimeout, def.PodUnscheduledTimeout)
	if len(merged.SSHKeys) == 0 {
		merged.SSHKeys = def.SSHKeys
	}
	merged.images = merged.images.over(def.images)
	merged.upload = merged.upload.over(def.upload)
	return &merged
}

func inherit[T any](into **T, def *T) {
	if *into == nil {
		*into = def
	}
}

func orElse(own, def string) string {
	if own == "" {
		return def
	}
	return own
}

func (u *utilityImages) over(def *utilityImages) *utilityImages {
	if u == nil || def == nil {
		if u == nil {
			return def
		}
		return u
	}
	return &utilityImages{orElse(u.clonerefs, def.clonerefs), orElse(u.initupload, def.initupload),
		orElse(u.entrypoint, def.entrypoint), orElse(u.sidecar, def.sidecar)}
}

func (u *upload) over(def *upload) *upload {
	if u == nil || def == nil {
		if u == nil {
			return def
		}
		return u
	}
	return &upload{orElse(u.bucket, def.bucket), orElse(u.strategy, def.strategy), orElse(u.org, def.org),
		orElse(u.repo, def.repo)}
}

// refused is why Prow refuses to decorate with it (DecorationConfig.Validate).
func (d *Decoration) refused() error {
	switch {
	case d.images == nil:
		return fmt.Errorf("no utility_images")
	case d.images.clonerefs == "" || d.images.initupload == "" || d.images.entrypoint == "" || d.images.sidecar == "":
		return fmt.Errorf("utility_images lacks one of clonerefs, initupload, entrypoint, sidecar")
	case d.upload == nil:
		return fmt.Errorf("no gcs_configuration")
	case d.OauthToken != nil && len(d.SSHKeys) > 0:
		return fmt.Errorf("both oauth_token_secret and ssh_key_secrets")
	}
	switch d.upload.strategy {
	case "explicit":
	case "legacy", "single":
		if d.upload.org == "" || d.upload.repo == "" {
			return fmt.Errorf("gcs_configuration: path_strategy %s without default_org and default_repo", d.upload.strategy)
		}
	default:
		return fmt.Errorf("gcs_configuration: path_strategy is none of legacy, explicit, single")
	}
	return nil
}

// references are the objects that the utility containers mount: those for uploading
// always, those for cloning where something is cloned, and the service account where
// the pod names none.
func (d *Decoration) references(clones, account bool) []Reference {
	var references []Reference
	add := func(kind ObjectKind, from string, name *Located, key string) {
		if name != nil && name.Value != "" {
			references = append(references, Reference{Kind: kind, Name: name.Value, Key: key,
				From: "decoration " + from, Position: name.Position})
		}
	}
	add(Secret, "gcs_credentials_secret", d.GCSCredentials, "")
	add(Secret, "s3_credentials_secret", d.S3Credentials, "")
	if !account {
		add(ServiceAccount, "default_service_account_name", d.ServiceAccount, "")
	}
	if !clones || d.SkipCloning != nil && *d.SkipCloning {
		return references
	}
	for i := range d.SSHKeys {
		add(Secret, "ssh_key_secrets", &d.SSHKeys[i], "")
	}
	add(Secret, "cookiefile_secret", d.Cookiefile, "")
	if d.OauthToken != nil {
		add(Secret, "oauth_token_secret", &d.OauthToken.Name, d.OauthToken.Key.Value)
	}
	if d.AppKey != nil {
		add(Secret, "github_app_private_key_secret", &d.AppKey.Name, d.AppKey.Key.Value)
	}
	return references
}
