--! 2: 'string' cannot be changed
string.rep = nil
