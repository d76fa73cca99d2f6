-- Visits the targets in a file, a line each: the host, a space, the path. `again` goes round until the time is up;
-- `once` takes each target once and tells how long that took.

local ffi = require("ffi")
ffi.cdef [[
  struct moment { long seconds; long nanoseconds; };
  int clock_gettime(int clock, struct moment *now);
]]
local MONOTONIC = 1

local function now()
  local moment = ffi.new("struct moment")
  ffi.C.clock_gettime(MONOTONIC, moment)
  return tonumber(moment.seconds) + tonumber(moment.nanoseconds) / 1e9
end

local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(arguments)
  requests = {}
  for line in io.lines(arguments[1]) do
    local host, path = line:match("^(%S+) (%S+)$")
    local headers = {}
    for name, value in pairs(wrk.headers) do headers[name] = value end
    headers["Host"] = host
    table.insert(requests, wrk.format("GET", path, headers))
  end
  visited, took, is_once, began = 0, 0, arguments[2] == "once", nil
end

function request()
  began = began or now()
  visited = visited + 1
  if visited > #requests then
    if is_once and took == 0 then
      took = now() - began
      wrk.thread:stop()
    end
    visited = 1
  end
  return requests[visited]
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  local took_once = threads[1]:get("took")
  local seconds = summary.duration / 1e6
  local count = summary.requests
  io.write(string.format("measured %d %.6f %.6f %d %d\n", count, seconds, took_once, latency:percentile(99), failed))
end
