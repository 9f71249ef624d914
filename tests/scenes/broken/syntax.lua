--! 3: unexpected symbol near '='
return scene {
  talus = = 1,
}
