package configuration

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"golang.org/x/mod/semver"
)

// versionName is the type of versions in rules: semver("1.2.3") < semver("v1.3"), isSemver(text), and of a version
// major(), minor(), patch() and compareTo(other), as in those that rollout tools evaluate.
const versionName = "config.Semver"

//nolint:gochecknoglobals // types that nobody writes to
var (
	versionType   = cel.ObjectType(versionName, traits.ComparerType)
	versionOfKind = types.NewObjectType(versionName, traits.ComparerType)
)

// version is one in its canonical form, which begins with v.
type version string

func parseVersion(text string) (version, error) {
	text = "v" + strings.TrimPrefix(text, "v")
	if !semver.IsValid(text) {
		return "", fmt.Errorf("%q is no semantic version", text[1:])
	}
	return version(semver.Canonical(text)), nil
}

// part is the major, minor or patch number.
func (v version) part(at int) types.Int {
	text, _, _ := strings.Cut(strings.TrimPrefix(string(v), "v"), "-")
	number, _ := strconv.Atoi(strings.Split(text, ".")[at]) // the canonical form has three
	return types.Int(number)
}

func (v version) ConvertToNative(reflect.Type) (any, error) {
	return nil, errors.New("a version stays one")
}

func (v version) ConvertToType(to ref.Type) ref.Val {
	switch to {
	case types.StringType:
		return types.String(v)
	case types.TypeType:
		return versionOfKind
	}
	return types.NewErr("a version is no %s", to.TypeName())
}

func (v version) Equal(other ref.Val) ref.Val {
	is, ok := other.(version)
	return types.Bool(ok && is == v)
}

func (v version) Compare(other ref.Val) ref.Val {
	is, ok := other.(version)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Int(semver.Compare(string(v), string(is)))
}

func (v version) Type() ref.Type { return versionOfKind }

func (v version) Value() any { return string(v) }

// semanticVersions are the functions over versions.
func semanticVersions() []cel.EnvOption {
	options := []cel.EnvOption{
		cel.Function("semver", cel.Overload("semver_string", []*cel.Type{cel.StringType}, versionType,
			cel.UnaryBinding(func(text ref.Val) ref.Val {
				made, err := parseVersion(fmt.Sprint(text.Value()))
				if err != nil {
					return types.NewErr("%s", err)
				}
				return made
			}))),
		cel.Function("isSemver", cel.Overload("isSemver_string", []*cel.Type{cel.StringType}, cel.BoolType,
			cel.UnaryBinding(func(text ref.Val) ref.Val {
				_, err := parseVersion(fmt.Sprint(text.Value()))
				return types.Bool(err == nil)
			}))),
		cel.Function("compareTo", cel.MemberOverload("semver_compareTo_semver", []*cel.Type{versionType, versionType},
			cel.IntType, cel.BinaryBinding(func(one, other ref.Val) ref.Val {
				if is, ok := one.(version); ok {
					return is.Compare(other)
				}
				return types.MaybeNoSuchOverloadErr(one)
			}))),
	}
	for at, name := range []string{"major", "minor", "patch"} {
		options = append(options, cel.Function(name, cel.MemberOverload("semver_"+name, []*cel.Type{versionType},
			cel.IntType, cel.UnaryBinding(func(one ref.Val) ref.Val {
				if is, ok := one.(version); ok {
					return is.part(at)
				}
				return types.MaybeNoSuchOverloadErr(one)
			}))))
	}
	for operator, overload := range comparisons() {
		options = append(options, cel.Function(operator,
			cel.Overload(overload, []*cel.Type{versionType, versionType}, cel.BoolType)))
	}
	return options
}

// comparisons are the operators over versions, with the names of what they do.
func comparisons() map[string]string {
	return map[string]string{
		"_<_": "semver_less_semver", "_<=_": "semver_lte_semver", "_>_": "semver_gt_semver", "_>=_": "semver_gte_semver",
	}
}

// versionComparisons are what the operators do.
func versionComparisons() []*functions.Overload {
	holds := map[string]func(int) bool{
		"_<_": func(is int) bool { return is < 0 }, "_<=_": func(is int) bool { return is <= 0 },
		"_>_": func(is int) bool { return is > 0 }, "_>=_": func(is int) bool { return is >= 0 },
	}
	var all []*functions.Overload
	for operator, overload := range comparisons() {
		all = append(all, &functions.Overload{Operator: overload, Binary: func(one, other ref.Val) ref.Val {
			is, ok := one.(version)
			if !ok {
				return types.MaybeNoSuchOverloadErr(one)
			}
			compared, ok := is.Compare(other).(types.Int)
			if !ok {
				return types.MaybeNoSuchOverloadErr(other)
			}
			return types.Bool(holds[operator](int(compared)))
		}})
	}
	return all
}
