--! 2: attempt to perform arithmetic on a string value
return "10" + 1
