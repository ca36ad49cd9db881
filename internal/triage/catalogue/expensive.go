package catalogue

import (
	"fmt"
	"regexp/syntax"
	"slices"

	"salve/internal/diagnostic"
)

// minSelective is how long a literal is, in bytes, that most lines lack.
const minSelective = 4

func (l *linter) expensive(s *Signature) {
	what := fmt.Sprintf("signature %q", s.ID)
	for _, c := range s.conditions() {
		lines := []Line{{All: c.All, Any: c.Any, Matches: c.Matches}}
		if c.Line != nil {
			lines = append(lines, *c.Line)
		}
		for _, line := range lines {
			for _, text := range line.Matches {
				l.expression(s.Position, what, text)
			}
			if short := shortest(line); short != "" {
				l.report(s.Position, diagnostic.Warning, RuleExpensive,
					"%s searches for %q: texts of fewer than %d bytes are on too many lines", what, short, minSelective)
			}
		}
	}
}

// shortest is a literal that is searched for and is too short for it: of All one that is long enough will do.
func shortest(line Line) string {
	tooShort := func(text string) bool { return len(text) < minSelective }
	if len(line.All) > 0 && all(line.All, tooShort) {
		return line.All[0]
	}
	if i := slices.IndexFunc(line.Any, tooShort); i >= 0 && len(line.All) == 0 {
		return line.Any[i]
	}
	return ""
}

// maxRepeated is how many instructions an expression has that isn't expensive.
const maxRepeated = 1000

func (l *linter) expression(at diagnostic.Position, what, text string) {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return // it was compiled when it was loaded
	}
	if leadingAny(parsed) {
		l.report(at, diagnostic.Warning, RuleExpensive,
			"%s: expression %.80q begins with any text: leave that out, it matches anywhere in a line", what, text)
	}
	if program, err := syntax.Compile(parsed.Simplify()); err == nil && len(program.Inst) > maxRepeated {
		l.report(at, diagnostic.Warning, RuleExpensive,
			"%s: expression %.80q is %d instructions long: repeat less", what, text, len(program.Inst))
	}
}

// leadingAny says whether an expression begins with ".*", in a group or not.
func leadingAny(r *syntax.Regexp) bool {
	switch r.Op {
	case syntax.OpConcat, syntax.OpCapture:
		return len(r.Sub) > 0 && leadingAny(r.Sub[0])
	case syntax.OpAlternate:
		return slices.ContainsFunc(r.Sub, leadingAny)
	case syntax.OpStar, syntax.OpPlus:
		return r.Sub[0].Op == syntax.OpAnyChar || r.Sub[0].Op == syntax.OpAnyCharNotNL
	default:
		return false
	}
}
