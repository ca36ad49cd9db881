package config_test

import (
	"fmt"
	"slices"
	"testing"

	"salve/internal/prow/config"
)

// references are a job's as kind/name, with a key and an asterisk for optional ones.
func references(job *config.Job) []string {
	var list []string
	for _, r := range job.References() {
		text := fmt.Sprintf("%s/%s", r.Kind, r.Name)
		if r.Key != "" {
			text += "#" + r.Key
		}
		if r.Optional {
			text += "*"
		}
		list = append(list, text+" by "+r.From)
	}
	slices.Sort(list)
	return list
}

// TestWhatAPodNeeds: every Secret, ConfigMap and service account that keeps it from
// starting.
func TestWhatAPodNeeds(t *testing.T) {
	c := sound(t, files{"config.yaml": `
presets:
- labels: {preset-gcs: "true"}
  env: [{name: KEY, valueFrom: {secretKeyRef: {name: preset-key, key: k}}}]
  volumes: [{name: preset, secret: {secretName: preset-secret}}]
  volumeMounts: [{name: preset, mountPath: /preset}]
- labels: {preset-other: "true"}
  volumes: [{name: other, secret: {secretName: not-this}}]
presubmits:
  org/repo:
  - name: unit
    labels: {preset-gcs: "true"}
    spec:
      serviceAccountName: runner
      imagePullSecrets: [{name: pull}]
      containers:
      - image: registry/image:tag
        args: [-C, src]
        command: [make]
        env:
        - {name: PLAIN, value: x}
        - {name: A, valueFrom: {secretKeyRef: {name: env-secret, key: a, optional: true}}}
        - {name: B, valueFrom: {configMapKeyRef: {name: env-map, key: b}}}
        - {name: C, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        envFrom:
        - {prefix: X, secretRef: {name: from-secret}}
        - {configMapRef: {name: from-map, optional: true}}
      volumes:
      - {name: s, secret: {secretName: volume-secret, optional: true}}
      - {name: m, configMap: {name: volume-map, items: [{key: a, path: b}]}}
      - {name: e, emptyDir: {}}
      - name: p
        projected:
          sources:
          - {secret: {name: projected-secret}}
          - {configMap: {name: projected-map}}
          - {serviceAccountToken: {path: x}}
      - {name: c, csi: {driver: d, nodePublishSecretRef: {name: csi-secret}}}
      - {name: f, azureFile: {secretName: azure-secret, shareName: s}}
`})
	want := []string{
		"ConfigMap/env-map#b by env B",
		"ConfigMap/from-map* by envFrom",
		"ConfigMap/projected-map by volume p",
		"ConfigMap/volume-map by volume m",
		"Secret/azure-secret by volume f",
		"Secret/csi-secret by volume c",
		"Secret/env-secret#a* by env A",
		"Secret/from-secret by envFrom",
		"Secret/preset-key#k by env KEY",
		"Secret/preset-secret by volume preset",
		"Secret/projected-secret by volume p",
		"Secret/pull by imagePullSecrets",
		"Secret/volume-secret* by volume s",
		"ServiceAccount/runner by serviceAccountName",
	}
	unit := c.Presubmits["org/repo"][0]
	if got := references(unit); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if len(unit.Pod.Images) != 1 || unit.Pod.Images[0].Value != "registry/image:tag" ||
		unit.Pod.Images[0].Position.Line != 17 {
		t.Errorf("%+v", unit.Pod.Images)
	}
	if !slices.Equal(unit.Pod.Words, []string{"make", "-C", "src"}) {
		t.Errorf("%v", unit.Pod.Words)
	}
	if len(c.UnknownFields) != 0 {
		t.Errorf("%+v", c.UnknownFields)
	}
}

const utilities = "utility_images: {clonerefs: a, initupload: b, entrypoint: c, sidecar: d}, " +
	"gcs_configuration: {bucket: b, path_strategy: explicit}"

// TestWhatDecorationNeeds: the utilities' own Secrets, with defaults merged in the
// order in which Prow merges them.
func TestWhatDecorationNeeds(t *testing.T) {
	clone := "ssh_key_secrets: [ssh], cookiefile_secret: cookie, github_app_private_key_secret: {name: app, key: k}"
	entries := "plank: {default_decoration_config_entries: [{config: {" + utilities +
		", gcs_credentials_secret: gcs, s3_credentials_secret: s3, default_service_account_name: sa, " + clone + "}}, " +
		"{repo: org, cluster: trusted, config: {gcs_credentials_secret: trusted}}, " +
		"{repo: other, config: {gcs_credentials_secret: other}}]}\n"
	older := "plank: {default_decoration_configs: {org/repo: {gcs_credentials_secret: narrow}, " +
		"org: {gcs_credentials_secret: " +
		"middle, s3_credentials_secret: org-s3}, '*': {" + utilities + ", gcs_credentials_secret: wide, s3_credentials_secret: s3}}}\n"
	all := []string{"Secret/app#k by decoration github_app_private_key_secret",
		"Secret/cookie by decoration cookiefile_secret",
		"Secret/gcs by decoration gcs_credentials_secret", "Secret/s3 by decoration s3_credentials_secret",
		"Secret/ssh by decoration ssh_key_secrets", "ServiceAccount/sa by decoration default_service_account_name"}
	upload := []string{all[2], all[3], all[5]}
	trusted := slices.Clone(all)
	trusted[2] = "Secret/trusted by decoration gcs_credentials_secret"
	slices.Sort(trusted)
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"not decorated":             {entries + job("a"), nil},
		"decorated":                 {entries + job("a", "decorate: true"), all},
		"all jobs are decorated":    {"decorate_all_jobs: true\n" + entries + job("a"), all},
		"all but this one":          {"decorate_all_jobs: true\n" + entries + job("a", "decorate: false"), nil},
		"by cluster":                {entries + job("a", "decorate: true", "cluster: trusted"), trusted},
		"without cloning":           {entries + job("a", "decorate: true", "decoration_config: {skip_cloning: true}"), upload},
		"a periodic clones nothing": {entries + "periodics:\n" + jobItem("a", "interval: 1h", "decorate: true"), upload},
		"a periodic with extra refs": {entries + "periodics:\n" + jobItem("a", "interval: 1h", "decorate: true",
			"extra_refs: [{org: x, repo: z, base_ref: main}]"), all},
		"an empty value switches a default off": {entries + job("a", "decorate: true",
			"decoration_config: {gcs_credentials_secret: '', s3_credentials_secret: '', skip_cloning: true}"), all[5:]},
		"the older form, widest first": {older + job("a", "decorate: true"), []string{
			"Secret/narrow by decoration gcs_credentials_secret", "Secret/org-s3 by decoration s3_credentials_secret"}},
	} {
		c2 := sound(t, files{"config.yaml": c.text})
		if got := references(c2.Jobs()[0]); !slices.Equal(got, c.want) {
			t.Errorf("%s: got  %q\nwant %q", name, got, c.want)
		}
	}
}
