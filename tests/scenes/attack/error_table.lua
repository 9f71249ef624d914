--! 2: the script raised an error that is not a text
error({ "x" })
