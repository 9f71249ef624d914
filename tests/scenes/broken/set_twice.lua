--! set gravity={0,1,2}
--! set gravity={1,2}
--! set bodies[1].velocity[2]=fast
--! --set gravity={1,2}: gravity must be three numbers
--! --set bodies[1].velocity[2]=fast: bodies[1].velocity[2] must be a number
return scene {
  talus = 1, engine = "lg", duration = 1,
  bodies = { { shape = sphere { radius = 0.1 }, density = 1, velocity = {0, 0, 0} } },
}
