--! 3:
return scene {
  talus = = 1,
}
