--! 2: 'package' is not available in scenes
print(package.path)
