--! 3: the file must return scene { ... }, got 5
-- a number is not a scene
return 5
