package diagnostic

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
)

// Rule is one thing that is looked for.
type Rule struct {
	// ID stays the same for ever: readers match what they saw before by it.
	ID string
	// Says is one line on what is looked for; Why is why that is wrong, or what to
	// do about it.
	Says, Why string
}

// Log is what a log says beside its results.
type Log struct {
	// Tag names the field that the rules are from, such as pipeline.
	Tag string
	// Root is the folder that paths are relative to.
	Root string
	// Version is the program's.
	Version string
}

// SARIF writes a list as a log of SARIF 2.1.0, with what GitHub's code scanning
// needs of it: paths from root in URI form, regions with both ends, a help text
// for each rule, and fingerprints that stay when lines move. The rules are all
// that were looked for.
//
// The format: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html;
// GitHub's subset: https://docs.github.com/en/code-security/reference/code-scanning/sarif-support-for-code-scanning
func SARIF(w io.Writer, list List, rules []Rule, log Log) error {
	driver := sarifDriver{Name: "salve", Version: log.Version, Rules: make([]sarifRule, 0, len(rules))}
	index := make(map[string]int, len(rules))
	for i, rule := range rules {
		index[rule.ID] = i
		driver.Rules = append(driver.Rules, sarifRule{
			ID: rule.ID, Short: sarifText{rule.Says}, Full: sarifText{rule.Says + " " + rule.Why},
			Help:    sarifText{rule.Says + " " + rule.Why},
			Default: sarifLevel{string(Error)}, Properties: sarifProperties{Tags: []string{log.Tag}},
		})
	}
	results := make([]sarifResult, 0, len(list))
	seen := map[string]int{}
	for _, d := range list {
		uri := relativeURI(log.Root, d.Position.File)
		same := fingerprint(d.Rule, uri, d.Step, d.Message)
		seen[same]++
		results = append(results, sarifResult{
			Rule: d.Rule, Index: index[d.Rule], Level: string(d.Severity), Message: sarifText{d.sentence()},
			Locations:    []sarifLocation{{sarifPhysical{artifactOf(uri), regionOf(d.Position)}}},
			Fingerprints: map[string]string{"primaryLocationLineHash": fmt.Sprintf("%s:%d", same, seen[same])},
		})
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0",
		Runs: []sarifRun{{Tool: sarifTool{driver}, ColumnKind: "unicodeCodePoints", Results: results}},
	})
}

func artifactOf(uri string) sarifArtifact {
	if strings.HasPrefix(uri, "file:") {
		return sarifArtifact{URI: uri}
	}
	return sarifArtifact{uri, "%SRCROOT%"}
}

// regionOf is one character: where something begins is all that is known.
func regionOf(place Position) sarifRegion {
	line, column := max(place.Line, 1), max(place.Column, 1)
	return sarifRegion{line, column, line, column + 1}
}

// relativeURI is a path as a URI from the root; a path outside of it is absolute.
func relativeURI(root, path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		absolute = path
	}
	relative, err := filepath.Rel(root, absolute)
	if err != nil || !filepath.IsLocal(relative) {
		return (&url.URL{Scheme: "file", Path: filepath.ToSlash(absolute)}).String()
	}
	segments := strings.Split(filepath.ToSlash(relative), "/")
	for i, segment := range segments {
		segments[i] = url.PathEscape(segment)
	}
	return strings.Join(segments, "/")
}

func fingerprint(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID         string          `json:"id"`
		Short      sarifText       `json:"shortDescription"`
		Full       sarifText       `json:"fullDescription"`
		Help       sarifText       `json:"help"`
		Default    sarifLevel      `json:"defaultConfiguration"`
		Properties sarifProperties `json:"properties"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifProperties struct {
		Tags []string `json:"tags"`
	}
	sarifResult struct {
		Rule         string            `json:"ruleId"`
		Index        int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
	}
)
