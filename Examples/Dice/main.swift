// A tool with a view: a host of MCP Apps shows the page; all other clients use the text.
import MCPApps
import MCPCore

let page = """
    <!doctype html><meta name="color-scheme" content="light dark"><title>Dice</title>
    <h1 id="pips">…</h1><button id="again">Roll again</button>
    <script>
        let last = 0;
        const waiting = new Map();
        const send = message => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
        const ask = (method, params) => new Promise(done => {
            waiting.set(++last, done);
            send({ id: last, method, params });
        });
        const show = result => document.getElementById("pips").textContent = result.structuredContent.pips;

        addEventListener("message", ({ source, data }) => {
            if (source !== parent) return;
            if (data.method === "ui/notifications/tool-result") show(data.params);
            else if (data.method === "ui/resource-teardown") send({ id: data.id, result: {} });
            else if (data.result) waiting.get(data.id)?.(data.result);
        });
        document.getElementById("again").onclick = async () => show(await ask("tools/call", { name: "roll" }));
        ask("ui/initialize", {
            protocolVersion: "2026-01-26", appInfo: { name: "dice", version: "1" }, appCapabilities: {},
        }).then(() => send({ method: "ui/notifications/initialized", params: {} }));
    </script>
    """

let server = MCPServer("dice", version: "1.0")
try server.addUIResource("ui://dice/table", name: "Dice", html: page)
try server.addUITool(
    Tool("roll", description: "Rolls a die", annotations: ToolAnnotations(readOnlyHint: true)),
    resourceURI: "ui://dice/table"
) { _, context in
    let pips = Int.random(in: 1 ... 6)
    let text = context.clientSupportsUI ? "The user sees the die: \(pips)." : "The die shows \(pips)."
    return CallToolResult(content: [.text(text)], structuredContent: ["pips": JSONValue(pips)])
}
try await server.run(.stdio)
