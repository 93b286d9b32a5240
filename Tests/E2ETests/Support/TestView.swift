/// A view for tests: it speaks the protocol by hand, keeps what it hears, and does what the test says. Firefox
/// shows a test only what `var` and `function` declare.
enum TestView {
    /// - Parameters:
    ///   - modes: the display modes that it declares.
    ///   - tools: it offers tools itself, as a script: `{add: ({a, b}) => …}`.
    ///   - begins: false: it never says `ui/initialize`.
    static func html(
        _ script: String = "", modes: [String] = ["inline"], tools: String = "null", begins: Bool = true,
        body: String = "<p id=\"text\">a view</p>"
    ) -> String {
        let list = modes.map { "\"\($0)\"" }.joined(separator: ", ")
        return """
            <!doctype html><html><head><meta charset="utf-8"><title>view</title></head><body>\(body)<script>
            var heard = [], results = {}, waiting = new Map(), tools = \(tools);
            var last = 0, context;
            var post = message => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
            var notify = (method, params = {}) => post({ method, params });
            function rpc(method, params = {}) {
              const id = ++last;
              post({ id, method, params });
              return new Promise((done, fail) => waiting.set(id, { done, fail }));
            }
            /* Begins a request whose end the test looks at later. */
            function begin(name, method, params) {
              results[name] = null;
              rpc(method, params).then(result => results[name] = { result }, error => results[name] = { error });
            }
            var answers = {
              "ping": () => ({}),
              "ui/resource-teardown": () => new Promise(done => setTimeout(done, window.farewell ?? 0, {})),
              "tools/list": () => ({ tools: Object.keys(tools ?? {}).map(name =>
                ({ name, description: "of a view", inputSchema: { type: "object" } })) }),
              "tools/call": async ({ name, arguments: args }) =>
                ({ content: [{ type: "text", text: String(await tools[name](args)) }] }),
            };
            addEventListener("message", async ({ data, source }) => {
              if (source !== parent) return;
              heard.push(data);
              if (data.method && data.id !== undefined) {
                try { post({ id: data.id, result: await answers[data.method](data.params) }) }
                catch (error) { post({ id: data.id, error: { code: -32601, message: String(error) } }) }
              } else if (data.id !== undefined) {
                const { done, fail } = waiting.get(data.id) ?? {};
                waiting.delete(data.id);
                data.error ? fail?.(data.error) : done?.(data.result);
              }
            });
            var of = method => heard.filter(one => one.method === method).map(one => one.params);
            async function start() {
              context = await rpc("ui/initialize", {
                protocolVersion: "2026-01-26", appInfo: { name: "test view", version: "1" },
                appCapabilities: { availableDisplayModes: [\(list)], ...(tools && { tools: { listChanged: true } }) },
              });
              notify("ui/notifications/initialized");
            }
            \(script)
            \(begins ? "start();" : "")
            </script></body></html>
            """
    }
}
