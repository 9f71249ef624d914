--!
for i = 1, 1e9 do preset "water" end
