package main

// specCommand prints the specification that fit would use.
type specCommand struct {
	specFlags
}

// Help is shown by kft spec --help.
func (*specCommand) Help() string {
	return `Takes the flags of kft fit, reads kft.yaml as that does, and prints every key with its value. What it prints can be edited and given back with --spec. Without a table it prints the defaults.

Example:

    kft spec --data sales.csv --target units --modes store,item,time=year+month > kft.yaml`
}

// Run prints the specification, or says what is wrong with it.
func (c *specCommand) Run(e *env) error {
	spec, _, err := c.specification()
	if err != nil {
		return err
	}
	_, err = e.stdout.Write(spec.YAML())
	return err
}
