-- An elastic rabbit falls on the ground, wobbles and comes to rest. paper: about 5k nodes and 20k tetrahedra.
local paper = size == "paper"
local p = params { young = 1e4, poisson = 0.4, friction = 0.5, dt = 0.02, edge = paper and 0.0109 or 0.018 }
return scene {
  talus = 1, engine = "grid",
  title = "Soft rabbit",
  about = "an elastic rabbit falls on the ground and wobbles",
  figure = "Takahashi2022 figure 5, table 2",
  minutes = paper and 10 or 2,
  duration = 1, fps = 50, dt_max = p.dt,
  fem = { elements = "tets" },
  bodies = {
    { name = "rabbit", shape = shape_file "rabbit", at = {0, 0.1, 0}, edge = p.edge,
      material = elastic { density = 500, young = p.young, poisson = p.poisson, friction = p.friction } },
    { name = "ground", kind = "static", shape = plane {}, friction = p.friction },
  },
  camera = { eye = {0.35, 0.3, 0.8}, target = {0, 0.14, 0}, fov_deg = 34 },
}
