-- A Lewis: a wedge is pulled up between two others that press against the walls of a slot in a heavy block. Friction alone carries the block.
local p = params { h = size == "paper" and 0.005 or 0.01, friction = 0.5, angle = 10.0, speed = 0.15 }
local a = math.tan(math.rad(p.angle))
local depth = 0.12                                   -- along z
local tall = 0.20                                    -- of the wedges
local slot = 0.09                                    -- half width
local wide, narrow = 0.055, 0.055 - tall * a         -- half width of the puller, below and above
local function prism(profile) return rotate(extrude { profile = profile, height = depth }, {-90, 0, 0}) end -- profile in x, y
local function wedge(side)
  return prism { {side * wide, 0}, {side * slot, 0}, {side * slot, tall}, {side * narrow, tall} }
end
local block = prism { {-0.22, -0.08}, {0.22, -0.08}, {0.22, 0.26}, {slot, 0.26}, {slot, -0.03}, {-slot, -0.03}, {-slot, 0.26}, {-0.22, 0.26} }
local puller = prism { {-wide, 0}, {wide, 0}, {narrow, tall}, {narrow, tall + 0.16}, {-narrow, tall + 0.16}, {-narrow, tall} }
local function rise(t) return { at = {0, t < 0.3 and 0 or p.speed * (t - 0.3), 0} } end
return scene {
  talus = 1, engine = "sph",
  title = "Lewis lift",
  about = "two wedges carry a heavy block by friction alone while the third is pulled up",
  figure = "Probst and Teschner 2023, figure 9",
  minutes = size == "paper" and 60 or 4,
  duration = 2.3, fps = 50, dt_max = 2e-3,
  sph = { spacing = p.h, iterations_least = 20 },
  bodies = {
    { name = "ground", kind = "static", shape = box { size = {0.8, 0.05, 0.5} }, at = {0, -0.105, 0} },
    { name = "block", shape = block, density = 2000, friction = p.friction, colour = "#8d8d85" },
    { name = "left", shape = wedge(-1), density = 2000, friction = p.friction, colour = "#b5534b" },
    { name = "right", shape = wedge(1), density = 2000, friction = p.friction, colour = "#b5534b" },
    { name = "puller", shape = puller, motion = rise, friction = p.friction, colour = "#4a7fb5" },
  },
  camera = { eye = {0.5, 0.5, 1.8}, target = {0, 0.2, 0}, fov_deg = 32 },
}
