-- How far apart sampled surfaces rest, by `gamma`: a tooth is let down over a notch, and a thin rod on the block beside it. With 0.3 the rod falls through the block and the tooth sinks into its floor,
-- with 0.7 both rest where they touch, with 1.0 the rod hovers two spacings up and the tooth stays above its notch. No inset: gaps are those of the samples.
local p = params { h = size == "paper" and 0.005 or 0.01, gamma = 0.7, notch = 5, rod = 0.4 } -- notch: width, rod: radius, in spacings
local h = p.h
local deep, half, tall = 6 * h, 0.5 * p.notch * h, 10 * h
local function prism(profile, depth) return extrude { profile = profile, height = depth, rotation_deg = {-90, 0, 0} } end -- profile in x, y
local block = prism({ {-20 * h, -tall}, {20 * h, -tall}, {20 * h, 0}, {half, 0}, {half, -deep}, {-half, -deep}, {-half, 0}, {-20 * h, 0} }, 12 * h)
local tooth = 0.5 * (p.notch - 2.2) * h -- half of its width: 1.1 h of room on each side
local body = prism({ {-tooth, 0}, {tooth, 0}, {tooth, 4 * h}, {5 * h, 4 * h}, {5 * h, 8 * h}, {-5 * h, 8 * h}, {-5 * h, 4 * h}, {-tooth, 4 * h} }, 8 * h)
return scene {
  talus = 1, engine = "sph",
  title = "A tooth, a notch and a thin rod",
  about = "how far apart sampled surfaces rest, and which features they feel",
  figure = "Probst and Teschner 2023, figure 2",
  minutes = 1,
  duration = 0.6, fps = 50, dt_max = 1e-3,
  sph = { spacing = h, gamma = p.gamma, inset = 0 },
  bodies = {
    { name = "block", kind = "static", shape = block, friction = 0.3, colour = "#9a9a94" },
    { name = "tooth", shape = body, at = {0, 3 * h, 0}, density = 1500, friction = 0.3, colour = "#4a7fb5" },
    { name = "rod", shape = capsule { from = {0, 0, -4 * h}, to = {0, 0, 4 * h}, radius = p.rod * h }, at = {13 * h, 3 * h, 0}, density = 3000, friction = 0.3, colour = "#e0b93c" },
  },
  camera = { eye = {0.1 * h, 12 * h, 90 * h}, target = {0, 0, 0}, fov_deg = 30 },
}
