// Package completion generates completion scripts for shells from the grammar of the
// command line. Besides kong's own tags, it reads two of flags and arguments: values lists
// the possible values, complete is file or dir.
package completion

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// Script returns the completion script of a shell: bash, zsh or fish. It reports false
// for any other shell.
func Script(shell string, app *kong.Application) (script string, known bool) {
	scripts := map[string]func([]verb) string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}
	write, known := scripts[shell]
	if !known {
		return "", false
	}
	return write(verbs(app)), true
}

// verb is a command in the form that completion needs.
type verb struct {
	name, help string
	children   []string // subcommands
	flags      []word
	args       []word
}

// word is a flag or an argument with its possible values.
type word struct {
	name, help string
	short      string
	takesValue bool
	values     []string // nil if the value is not one of a list
	kind       string   // file, dir or ""
}

// verbs reads the grammar.
func verbs(app *kong.Application) []verb {
	var all []verb
	for _, node := range app.Children {
		v := verb{name: node.Name, help: firstSentence(node.Help)}
		v.read(node)
		for _, child := range node.Children {
			v.children = append(v.children, child.Name)
			v.read(child)
		}
		v.flags = append(v.flags, word{name: "help", short: "h", help: "Show help"})
		all = append(all, v)
	}
	return all
}

// read adds the flags and arguments of a node.
func (v *verb) read(node *kong.Node) {
	for _, f := range node.Flags {
		if f.Hidden {
			continue
		}
		w := wordOf(f.Value)
		w.takesValue = !f.IsBool()
		if f.Short != 0 {
			w.short = string(f.Short)
		}
		v.flags = append(v.flags, w)
	}
	for _, a := range node.Positional {
		v.args = append(v.args, wordOf(a))
	}
}

func wordOf(v *kong.Value) word {
	w := word{name: v.Name, help: firstSentence(v.Help), kind: v.Tag.Get("complete")}
	if list := v.Tag.Get("values"); list != "" {
		w.values = strings.Split(list, ",")
	}
	return w
}

// firstSentence returns a text that is short enough for a menu, without characters that
// are special to a shell.
func firstSentence(help string) string {
	if i := strings.IndexAny(help, ".:;("); i > 0 {
		help = help[:i]
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if strings.ContainsRune("'\"`$\\[]", r) {
			return -1
		}
		return r
	}, help))
}

// bashScript completes by the word before the cursor: a flag that takes a value, a
// verb, or the start of a flag.
func bashScript(all []verb) string {
	var b strings.Builder
	b.WriteString(`# Completion of kft for bash: source <(kft completion bash)
_kft() {
    local current previous verb
    # A colon or an equals sign splits words in COMP_WORDS; values that contain
    # one are completed up to it.
    current="${COMP_WORDS[COMP_CWORD]}"
    previous="${COMP_WORDS[COMP_CWORD-1]}"
    verb="${COMP_WORDS[1]}"
    COMPREPLY=()
    if [[ $COMP_CWORD -eq 1 ]]; then
`)
	fmt.Fprintf(&b, "        COMPREPLY=($(compgen -W %q -- \"$current\"))\n        return\n    fi\n", strings.Join(names(all), " "))
	b.WriteString("    case \"$verb $previous\" in\n")
	for _, v := range all {
		for _, f := range v.flags {
			if !f.takesValue {
				continue
			}
			pattern := fmt.Sprintf("%q", v.name+" --"+f.name)
			if f.short != "" {
				pattern += fmt.Sprintf(" | %q", v.name+" -"+f.short)
			}
			fmt.Fprintf(&b, "        %s)\n            %s\n            return ;;\n", pattern, bashReply(f))
		}
	}
	b.WriteString("    esac\n    case \"$verb\" in\n")
	for _, v := range all {
		var flags []string
		for _, f := range v.flags {
			flags = append(flags, "--"+f.name)
		}
		fmt.Fprintf(&b, "        %s)\n            if [[ $current == -* ]]; then\n                COMPREPLY=($(compgen -W %q -- \"$current\"))\n                return\n            fi\n", v.name, strings.Join(flags, " "))
		if v.children != nil {
			fmt.Fprintf(&b, "            if [[ $COMP_CWORD -eq 2 ]]; then\n                %s\n                return\n            fi\n", bashReply(word{values: v.children}))
		}
		if len(v.args) > 0 {
			fmt.Fprintf(&b, "            %s\n", bashReply(v.args[len(v.args)-1]))
		}
		b.WriteString("            ;;\n")
	}
	b.WriteString("    esac\n}\ncomplete -F _kft kft\n")
	return b.String()
}

func bashReply(w word) string {
	switch {
	case len(w.values) > 0:
		return fmt.Sprintf("COMPREPLY=($(compgen -W %q -- \"$current\"))", strings.Join(w.values, " "))
	case w.kind == "file":
		return "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$current\"))"
	case w.kind == "dir":
		return "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- \"$current\"))"
	}
	return ": # no completion"
}

func names(all []verb) []string {
	var out []string
	for _, v := range all {
		out = append(out, v.name)
	}
	return out
}

// zshScript describes each verb to _arguments.
func zshScript(all []verb) string {
	var b strings.Builder
	b.WriteString("#compdef kft\n# Completion of kft for zsh: source <(kft completion zsh)\n_kft() {\n    local -a commands\n    commands=(\n")
	for _, v := range all {
		fmt.Fprintf(&b, "        '%s:%s'\n", v.name, v.help)
	}
	b.WriteString("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n    local verb=$words[2]\n" +
		"    shift words\n    (( CURRENT-- ))\n    case $verb in\n")
	for _, v := range all {
		fmt.Fprintf(&b, "        %s)\n            _arguments", v.name)
		for _, f := range v.flags {
			spec := fmt.Sprintf("--%s[%s]", f.name, f.help)
			if f.takesValue {
				spec = fmt.Sprintf("--%s=[%s]:%s:%s", f.name, f.help, f.name, zshAction(f))
			}
			fmt.Fprintf(&b, " \\\n                '*%s'", spec)
		}
		if v.children != nil {
			fmt.Fprintf(&b, " \\\n                '1:command:%s'", zshAction(word{values: v.children}))
		}
		for _, a := range v.args {
			fmt.Fprintf(&b, " \\\n                '*:%s:%s'", a.name, zshAction(a))
			break // one line covers all arguments of a verb
		}
		b.WriteString("\n            ;;\n")
	}
	b.WriteString("    esac\n}\nif (( $+functions[compdef] )); then\n    compdef _kft kft\nfi\n")
	return b.String()
}

func zshAction(w word) string {
	switch {
	case len(w.values) > 0:
		escaped := strings.NewReplacer(":", `\:`).Replace(strings.Join(w.values, " "))
		return "(" + escaped + ")"
	case w.kind == "file":
		return "_files"
	case w.kind == "dir":
		return "_files -/"
	}
	return ""
}

// fishScript has one line per flag.
func fishScript(all []verb) string {
	var b strings.Builder
	b.WriteString("# Completion of kft for fish: kft completion fish > ~/.config/fish/completions/kft.fish\ncomplete -c kft -f\n")
	for _, v := range all {
		fmt.Fprintf(&b, "complete -c kft -n __fish_use_subcommand -a %s -d '%s'\n", v.name, v.help)
	}
	for _, v := range all {
		when := fmt.Sprintf("complete -c kft -n '__fish_seen_subcommand_from %s'", v.name)
		for _, f := range v.flags {
			line := when
			if f.short != "" {
				line += " -s " + f.short
			}
			line += " -l " + f.name
			switch {
			case len(f.values) > 0:
				line += fmt.Sprintf(" -x -a '%s'", strings.Join(f.values, " "))
			case f.kind == "file":
				line += " -r -F"
			case f.kind == "dir":
				line += " -x -a '(__fish_complete_directories)'"
			case f.takesValue:
				line += " -x"
			}
			fmt.Fprintf(&b, "%s -d '%s'\n", line, f.help)
		}
		if v.children != nil {
			fmt.Fprintf(&b, "%s -a '%s'\n", when, strings.Join(v.children, " "))
		}
		for _, a := range v.args {
			switch {
			case len(a.values) > 0:
				fmt.Fprintf(&b, "%s -a '%s'\n", when, strings.Join(a.values, " "))
			case a.kind == "file":
				fmt.Fprintf(&b, "%s -F\n", when)
			}
		}
	}
	return b.String()
}
