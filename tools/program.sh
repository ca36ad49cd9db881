# Sourced by the scripts that build programs from the modules beside it. They set into (the folder to build into) and
# go (the Go command).

version() { (cd "$1" && "$go" list -m -f '{{.Version}}' "$2"); }

# program MODULE VERSION PACKAGE NAME [LDFLAGS] builds a program that is not there yet in this version.
program() {
  local stamp=$into/.$4.version want="$2 $("$go" env GOVERSION)"
  if [ -x "$into/$4" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$want" ]; then
    return
  fi
  echo "building $4 $2"
  (cd "$1" && "$go" build -ldflags "-s -w ${5:-}" -o "$into/$4" "$3")
  echo "$want" >"$stamp"
}
