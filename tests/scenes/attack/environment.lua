--! 2: '_ENV' is not available in scenes
local e = _ENV
