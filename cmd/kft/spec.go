package main

// specCommand prints the specification that fit would use.
type specCommand struct {
	specFlags
}

// Help is shown by kft spec --help.
func (*specCommand) Help() string {
	return `Takes the arguments and flags of kft fit and prints the specification that kft fit would use, with every key. The output can be edited and used with --spec. Without a table and without kft.yaml it prints the defaults.

Example:

    kft spec sales.csv --target units --modes store,item,time=year+month > kft.yaml`
}

// Run prints the specification, or what is wrong with it.
func (c *specCommand) Run(e *env) error {
	spec, _, err := c.specification(e, false)
	if err != nil {
		return err
	}
	_, err = e.rawOut.Write(spec.YAML())
	return err
}
