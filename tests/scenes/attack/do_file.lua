--! 2: 'dofile' is not available in scenes
dofile("/etc/passwd")
