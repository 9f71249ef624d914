--! 4:
return scene {
  talus = 1,
