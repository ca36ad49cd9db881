package githubsim

import "strings"

// match compares segments of a path with a pattern, and gives what stands for its variables.
func match(pattern string, segments []string) (arguments []string, matched bool) {
	if pattern == "" {
		return nil, len(segments) == 0
	}
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		switch {
		case strings.HasSuffix(part, "...}"):
			after := len(parts) - i - 1 // segments that follow the variable
			end := len(segments) - after
			if end <= i {
				return nil, false
			}
			arguments = append(arguments, strings.Join(segments[i:end], "/"))
			rest, matched := match(strings.Join(parts[i+1:], "/"), segments[end:])
			return append(arguments, rest...), matched
		case i >= len(segments):
			return nil, false
		case strings.HasPrefix(part, "{"):
			arguments = append(arguments, segments[i])
		case part != segments[i]:
			return nil, false
		}
	}
	return arguments, len(segments) == len(parts)
}
