"""Other tools, run on the splits of kft by kft's protocol and measures."""
