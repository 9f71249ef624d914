--! 2: import.files is not a key of an import; did you mean 'file'?
local robot = import { file = "a.urdf", files = "b.urdf" }
return scene { robot, talus = 1, engine = "grid", duration = 1 }
