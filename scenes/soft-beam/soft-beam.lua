-- A soft beam that is held at one end swings down under its weight. paper: 2.3k nodes, plain tetrahedra as in the publication.
local paper = size == "paper"
local p = params { young = 1e4, poisson = 0.49, integrator = "euler" }
return scene {
  talus = 1, engine = "grid",
  title = "Soft beam",
  about = "a soft beam, held at one end, swings down and comes to rest",
  figure = "Takahashi2022 figure 3, table 1",
  minutes = paper and 2 or 0.2,
  duration = 4, fps = 50,
  fem = { integrator = p.integrator, elements = paper and "tets" or "auto" },
  bodies = {
    { name = "beam", shape = box { size = {1, 0.1875, 0.1875}, center = {0.5, 0, 0} }:paint({ "#c8553d", gloss = 0.4 }),
      cells = paper and {46, 6, 6} or {16, 3, 3}, anchor = box { size = {paper and 0.2 or 0.01, 1, 1} },
      material = elastic { density = 500, young = p.young, poisson = p.poisson } },
    { name = "clamp", kind = "static", shape = box { size = {0.1, 0.26, 0.26}, center = {-0.05, 0, 0} }, colour = "#6d7780" },
  },
  camera = { eye = {1.1, 0.1, 2.4}, target = {0.4, -0.3, 0}, fov_deg = 36 },
}
