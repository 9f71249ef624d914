--! 2: 'string.gsub' is not available in scenes
return ("a"):gsub(".", "aa")
