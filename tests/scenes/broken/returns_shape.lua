--! 2: the file must return scene { ... }, got a shape
return sphere { radius = 1 }
