--! the script did not end within its 10000000 units of work
::again::
local x = 1
goto again
