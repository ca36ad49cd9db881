package config

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Prow reads YAML 1.1 (go.yaml.in/yaml/v2, by way of sigs.k8s.io/yaml): yes, on and
// y are booleans, 010 is eight, and a key that looks like a number is read as one.
// The nodes here are of YAML 1.2, so plain scalars are resolved again.

// kind is what YAML 1.1 makes of a plain scalar.
type kind int

const (
	kindText kind = iota
	kindNull
	kindBool
	kindInt
	kindFloat
)

func kindOf(node *yaml.Node) kind {
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if node.Style&quoted != 0 || node.Style&yaml.TaggedStyle != 0 && node.Tag == "!!str" {
		return kindText
	}
	return plainKind(node.Value)
}

func plainKind(value string) kind {
	if value == "" {
		return kindNull
	}
	switch first := value[0]; {
	case strings.IndexByte("yYnNtTfFoO~", first) >= 0:
		switch value {
		case "~", "null", "Null", "NULL":
			return kindNull
		}
		if _, ok := bool11(value); ok {
			return kindBool
		}
	case first == '.' || first == '+' || first == '-' || first >= '0' && first <= '9':
		return numberKind(value)
	}
	return kindText
}

func numberKind(value string) kind {
	switch value {
	case ".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF":
		return kindFloat
	}
	if _, ok := int11(value); ok {
		return kindInt
	}
	if _, ok := float11(value); ok {
		return kindFloat
	}
	return kindText
}

func bool11(value string) (truth, ok bool) {
	switch value {
	case "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return true, true
	case "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return false, true
	}
	return false, false
}

func int11(value string) (int, bool) {
	plain := strings.ReplaceAll(value, "_", "")
	number, err := strconv.ParseInt(plain, 0, 64)
	return int(number), err == nil
}

func float11(value string) (float64, bool) {
	plain := value
	if value[0] != '.' {
		plain = strings.ReplaceAll(value, "_", "")
	}
	if strings.Trim(plain, "0123456789.eE+-") != "" {
		return 0, false
	}
	number, err := strconv.ParseFloat(plain, 64)
	return number, err == nil
}

func isNull(node *yaml.Node) bool { return kindOf(node) == kindNull }
func isText(node *yaml.Node) bool { return kindOf(node) == kindText }

func asBool(node *yaml.Node) (value, ok bool) {
	if node.Kind != yaml.ScalarNode || kindOf(node) != kindBool {
		return false, false
	}
	return bool11(node.Value)
}

func asInt(node *yaml.Node) (int, bool) {
	if node.Kind != yaml.ScalarNode || kindOf(node) != kindInt {
		return 0, false
	}
	return int11(node.Value)
}

// keyText is a key as Prow reads it: 1.10 without quotes is the branch "1.1".
func keyText(node *yaml.Node) string {
	switch kindOf(node) {
	case kindBool:
		truth, _ := bool11(node.Value)
		return strconv.FormatBool(truth)
	case kindInt:
		number, _ := int11(node.Value)
		return strconv.Itoa(number)
	case kindFloat:
		if number, ok := float11(node.Value); ok {
			return strconv.FormatFloat(number, 'g', -1, 32)
		}
	default:
	}
	return node.Value
}
