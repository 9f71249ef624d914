--! 4: unexpected symbol near <eof>
return scene {
  talus = 1,
