/// The half of MCP Apps that runs in a view: the code that the demo's pages share.
///
/// It is written by hand, without a library, so that a page is complete without a network.
enum DemoViewScript {
    /// The script that defines `view`, with `start`, `on`, `request`, `notify`, `context` and `capabilities`.
    static let text = #"""
        const view = (() => {
          let last = 0;
          const waiting = new Map(), handlers = new Map(), root = document.documentElement;
          const post = message => parent.postMessage({jsonrpc: "2.0", ...message}, "*");
          const self = {
            context: {}, capabilities: {},
            notify: (method, params = {}) => post({method, params}),
            request: (method, params = {}) => new Promise((resolve, reject) => {
              waiting.set(++last, {resolve, reject});
              post({id: last, method, params});
            }),
            on: (method, handler) => handlers.set(method, handler),
            async start(appInfo, appCapabilities = {}) {
              const answer = await self.request("ui/initialize",
                {protocolVersion: "2026-01-26", appInfo, appCapabilities});
              self.capabilities = answer.hostCapabilities;
              take(answer.hostContext);
              self.notify("ui/notifications/initialized");
              return answer;
            },
            reportSize() {
              const {width, height} = document.body.getBoundingClientRect();
              self.notify("ui/notifications/size-changed",
                {width: Math.ceil(width), height: Math.ceil(height)});
            },
          };
          function take(changes) {
            Object.assign(self.context, changes);
            if (changes.theme) root.style.colorScheme = changes.theme;
            for (const [name, value] of Object.entries(changes.styles?.variables ?? {}))
              root.style.setProperty(name, value);
          }
          async function answer(id, method, params) {
            const handler = handlers.get(method);
            const isKnown = handler || method === "ping" || method === "ui/resource-teardown";
            if (!isKnown) return post({id, error: {code: -32601, message: "Method not found: " + method}});
            try {
              post({id, result: await handler?.(params) ?? {}});
            } catch (error) {
              post({id, error: {code: -32603, message: String(error)}});
            }
          }
          addEventListener("message", ({source, data}) => {
            if (source !== parent || data?.jsonrpc !== "2.0") return;
            const {id, method, params, result, error} = data;
            if (method && id !== undefined) return answer(id, method, params);
            if (method === "ui/notifications/host-context-changed") take(params);
            if (method) return handlers.get(method)?.(params);
            const call = waiting.get(id);
            waiting.delete(id);
            if (error) call?.reject(Object.assign(new Error(error.message), {code: error.code}));
            else call?.resolve(result);
          });
          return self;
        })();
        """#

    /// Returns a complete page.
    static func page(title: String, style ownStyle: String, body: String, script: String) -> String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <title>\(title)</title>
        <style>
        \(style)
        \(ownStyle)
        </style>
        </head>
        <body>
        \(body)
        <script>
        \(text)
        \(script)
        </script>
        </body>
        </html>
        """
    }

    /// The style of the pages: the host's variables, with fallback values for hosts that provide none.
    static let style = #"""
        :root { color-scheme: light dark; }
        body { margin: 0; padding: 1rem;
          font: var(--font-text-sm-size, 0.875rem)/1.5 var(--font-sans, system-ui);
          color: var(--color-text-primary, light-dark(#111, #eee));
          background: var(--color-background-primary, light-dark(#fff, #1c1c1e)); }
        button { font: inherit; color: inherit; margin: 0.15rem 0; padding: 0.3rem 0.8rem; cursor: pointer;
          background: var(--color-background-secondary, light-dark(#f4f4f4, #2a2a2c));
          border: 1px solid var(--color-border-primary, light-dark(#ccc, #555));
          border-radius: var(--border-radius-md, 6px); }
        button:focus-visible { outline: 2px solid var(--color-ring-primary, #1f6fd0); outline-offset: 2px; }
        """#
}
