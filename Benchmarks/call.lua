-- wrk script: tools/call in 2026-07-28, a new id in every request. TOOL names another tool than echo.
local tool = os.getenv("TOOL") or "echo"
local id = 0
local headers = {
  ["Content-Type"] = "application/json",
  ["Accept"] = "application/json, text/event-stream",
  ["MCP-Protocol-Version"] = "2026-07-28",
  ["Mcp-Method"] = "tools/call",
  ["Mcp-Name"] = tool,
}
request = function()
  id = id + 1
  headers["Host"] = wrk.headers["Host"]
  local body = '{"jsonrpc":"2.0","id":' .. id .. ',"method":"tools/call","params":{"name":"' .. tool .. '",' ..
    '"arguments":{"text":"hello world"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",' ..
    '"io.modelcontextprotocol/clientCapabilities":{}}}}'
  return wrk.format("POST", "/mcp", headers, body)
end
