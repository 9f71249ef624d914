--! 2: 'os' is not available in scenes
os.execute("true")
