--! 2: '_G' is not available in scenes
_G.box = nil
