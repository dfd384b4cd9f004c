"""Other tools, run on the splits of kft with its protocol and metrics."""
