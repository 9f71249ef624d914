--! 2: 'string.find' is not available in scenes
return string.find(("a"):rep(40), ("a*"):rep(40) .. "b")
