package main

import (
	"io"

	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/completion"
)

// completionCommand prints a completion script.
type completionCommand struct {
	Shell string `arg:"" values:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

// Help is shown by kft completion --help.
func (*completionCommand) Help() string {
	return `Examples:

    source <(kft completion bash)
    source <(kft completion zsh)
    kft completion fish > ~/.config/fish/completions/kft.fish`
}

// Run writes the script, which is generated from the grammar.
func (c *completionCommand) Run(e *env) error {
	script, known := completion.Script(c.Shell, e.parser.Model)
	if !known {
		return usagef("no completion for the shell %q; use bash, zsh or fish", c.Shell)
	}
	_, err := io.WriteString(e.rawOut, script)
	return err
}
