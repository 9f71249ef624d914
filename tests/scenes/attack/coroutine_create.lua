--! 2: 'coroutine' is not available in scenes
coroutine.wrap(function() while true do end end)()
