--! 2: 'string.match' is not available in scenes
return ("a"):match("a*a*a*b")
