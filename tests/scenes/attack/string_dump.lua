--! 2: 'string.dump' is not available in scenes
return string.dump(function() end)
