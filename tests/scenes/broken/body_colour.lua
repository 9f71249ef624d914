--! 5: bodies[1].colour must be a colour: {r, g, b} from 0 to 1, or "#rrggbb", got "red"
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { shape = box { size = 0.2 }, density = 1, colour = "red" } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
