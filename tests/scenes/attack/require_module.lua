--! 2: 'require' is not available in scenes
require "os"
