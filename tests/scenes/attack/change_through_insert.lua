--! 2: 'table' cannot be changed
table.insert(table, 1)
