-- A free body with three different moments of inertia, spun about the middle one, turns over again and again (Dzhanibekov).
local p = params { spin = 6.0, wobble = 0.02 }
local handle = capsule { from = {-0.3, 0, 0}, to = {0.3, 0, 0}, radius = 0.035 }
local stem = capsule { from = {0, 0, 0}, to = {0, 0.3, 0}, radius = 0.035 }

return scene {
  talus = 1, engine = "grid",
  title = "A wing nut in free fall",
  about = "a free asymmetric body turns over again and again; angular momentum and energy are kept",
  minutes = 0.1,
  duration = size == "paper" and 100 or 10, fps = 50, dt_max = 0.01,
  gravity = {0, 0, 0},
  bodies = {
    { name = "nut", shape = union { handle, stem, sphere { radius = 0.06, center = {-0.3, 0, 0} }, sphere { radius = 0.06, center = {0.3, 0, 0} } }, mass = 2, colour = "#b87333",
      at = {0, 0.6, 0}, spin_rad_per_s = {p.wobble, p.spin, 0.5 * p.wobble} },
  },
  camera = { eye = {0.9, 1.1, 1.5}, target = {0, 0.6, 0}, fov_deg = 36 },
}
