-- wrk script: tools/call echo in 2026-07-28, a new id in every request.
local id = 0
local headers = {
  ["Content-Type"] = "application/json",
  ["Accept"] = "application/json, text/event-stream",
  ["MCP-Protocol-Version"] = "2026-07-28",
  ["Mcp-Method"] = "tools/call",
  ["Mcp-Name"] = "echo",
}
request = function()
  id = id + 1
  headers["Host"] = wrk.headers["Host"]
  local body = '{"jsonrpc":"2.0","id":' .. id .. ',"method":"tools/call","params":{"name":"echo",' ..
    '"arguments":{"text":"hello world"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",' ..
    '"io.modelcontextprotocol/clientCapabilities":{}}}}'
  return wrk.format("POST", "/mcp", headers, body)
end
