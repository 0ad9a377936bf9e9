#!/bin/sh
# Man pages and completions of the program: cmake/manuals.sh PROGRAM HELP2MAN FOLDER
set -eu
program=$1 help2man=$2 folder=$3
rm -f "$folder"/*
for shell in bash zsh fish; do "$program" completions "$shell" >"$folder/pursuit.$shell"; done

# The commands and what they say of themselves, from the list in --help.
list=$("$program" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\)  *\(.*\)/\1 \2/p')
describe() { # what help2man looks at
  "$help2man" --no-info --section 1 --source pursuit --manual 'pursuit' --version-string "$("$program" --version)" \
    --help-option "$1" --no-discard-stderr --name "$2" --output "$folder/$3.1" "$program"
  sed -i "s/^pursuit \\\\- /$3 \\\\- /; s/^\\(\\.TH \\)PURSUIT/\\1\"$(echo "$3" | tr a-z A-Z)\"/" "$folder/$3.1"
}
describe --help 'approximate a matrix by a short sum of structured rank-one atoms' pursuit
echo "$list" | while read -r command description; do
  describe "$command --help" "$description" "pursuit-$command"
done
gzip --best --no-name "$folder"/*.1
