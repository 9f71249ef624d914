--! 2: 'box' is a name of talus; write 'local box' for one of your own
box = 3
