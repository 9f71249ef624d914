--! 2: shape_file takes a name of letters, digits, - and _, got '../broken/x'
shape_file "../broken/x"
