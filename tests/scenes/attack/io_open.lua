--! 2: 'io' is not available in scenes
io.open("/etc/passwd")
