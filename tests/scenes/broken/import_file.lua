--! 2: import: cannot read
local robot = import { file = "no_such_robot.urdf" }
return scene { robot, talus = 1, engine = "grid", duration = 1 }
