--! 2: a scene can make at most 100000 materials
for i = 1, 1e9 do preset "water" end
