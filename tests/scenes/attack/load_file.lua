--! 2: 'loadfile' is not available in scenes
loadfile("/etc/passwd")
