--! 2: solid.spinning_friction must be from 0 to 1000 m, got -1
local steel = solid { density = 7850, spinning_friction = -1 }
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = { { shape = sphere { radius = 0.1 }, material = steel } },
}
