--! 2: lies outside of the folder
local robot = import { file = "../../robots/pendulum.urdf" }
return scene { robot, talus = 1, engine = "grid", duration = 1 }
