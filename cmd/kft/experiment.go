package main

// experimentCommand compares configurations on the same splits.
type experimentCommand struct {
	Table experimentTable `cmd:"" help:"Compare the results of a folder: means, standard deviations, paired differences."`
}
