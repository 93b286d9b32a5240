// Offers tools of a web page to the agents of an mcp-server, as a small MCP server over an event stream.
//
//     const provider = new ToolProvider({ daemon: "https://mcp.example.com", channel: "general", client: "my-page", token });
//     provider.add({ name: "title", description: "The title of the page", inputSchema: { type: "object" } },
//         async () => document.title);
//     provider.connect();

export class ToolProvider {
    #options;
    #tools = new Map();
    #source = null;
    #messages = null;
    #calls = new Map();
    #pause = 0;
    #timer = 0;
    #silence = 0;
    #attempt = 0;
    #isWanted = false;

    /** `onReport` receives what the daemon accepts and refuses, `onState` "connected" or why there is no connection. */
    constructor(options) {
        this.#options = { onReport() {}, onState() {}, ...options };
        // A page that the browser keeps for the way back would keep its connection, too.
        addEventListener("pagehide", () => this.#end());
        addEventListener("pageshow", event => { if (event.persisted && this.#isWanted) this.connect() });
    }

    /** Adds a tool. `run` receives the arguments and an AbortSignal, and returns text, or a CallToolResult. */
    add(definition, run) {
        this.#tools.set(definition.name, { definition, run });
        this.#post({ method: "notifications/tools/list_changed" });
    }

    remove(name) {
        this.#tools.delete(name);
        this.#post({ method: "notifications/tools/list_changed" });
    }

    /** Connects, and connects again whenever the connection is lost. */
    async connect() {
        this.#end();
        this.#isWanted = true;
        const { channel, client } = this.#options;
        const attempt = this.#attempt;
        let ticket;
        try {
            // An EventSource cannot send the token, and in a URL it would end up in logs: a ticket opens one stream.
            const answer = await this.#fetch(`/client-tools/ticket?${new URLSearchParams({ channel })}`, "{}");
            if (!answer.ok) throw new Error((await answer.json()).error);
            ({ ticket } = await answer.json());
        } catch (error) {
            if (attempt === this.#attempt) this.#retry(error.message);
            return;
        }
        // Closed in the meantime.
        if (attempt !== this.#attempt) return;
        const query = new URLSearchParams({ channel, client, ticket, report: 1 });
        const source = new EventSource(new URL(`/providers?${query}`, this.#options.daemon));
        this.#source = source;
        this.#listen();
        source.addEventListener("endpoint", event => {
            this.#messages = new URL(event.data, source.url);
            this.#pause = 0;
            this.#options.onState("connected");
        });
        source.onmessage = event => {
            this.#listen();
            this.#receive(JSON.parse(event.data));
        };
        // The ticket is void: the browser's own attempts would all be refused.
        source.onerror = () => {
            this.#end();
            this.#retry("the connection was lost");
        };
    }

    /** Ends the connection; `connect` opens another one. */
    close() {
        this.#isWanted = false;
        this.#end();
    }

    /** The daemon sends a message at least every 20 s: without any, the network is gone. */
    #listen() {
        clearTimeout(this.#silence);
        this.#silence = setTimeout(() => {
            this.#end();
            this.#retry("the daemon is silent");
        }, 75_000);
    }

    #end() {
        this.#attempt += 1;
        clearTimeout(this.#timer);
        clearTimeout(this.#silence);
        this.#source?.close();
        this.#source = this.#messages = null;
        for (const call of this.#calls.values()) call.abort();
        this.#calls.clear();
    }

    #retry(reason) {
        this.#pause = Math.min(30_000, this.#pause * 2 || 500);
        this.#options.onState(reason);
        this.#timer = setTimeout(() => this.connect(), this.#pause * (0.5 + Math.random() / 2));
    }

    #fetch(path, body) {
        return fetch(new URL(path, this.#options.daemon), {
            method: "POST", body, credentials: "omit",
            headers: { "Content-Type": "application/json", Authorization: `Bearer ${this.#options.token}` },
        });
    }

    async #post(message) {
        if (!this.#messages) return;
        const answer = await this.#fetch(this.#messages, JSON.stringify({ jsonrpc: "2.0", ...message }))
            .catch(error => ({ ok: false, status: error.message }));
        if (!answer.ok) console.warn(`the daemon refused a message: ${answer.status}`);
    }

    async #receive({ id, method, params }) {
        if (method === "mcpcore/clientTools/registered") return this.#options.onReport(params);
        if (method === "notifications/cancelled") return this.#calls.get(params.requestId)?.abort();
        if (id === undefined) return;
        switch (method) {
            case "initialize":
                return this.#post({
                    id, result: {
                        protocolVersion: "2025-11-25", capabilities: { tools: { listChanged: true } },
                        serverInfo: { name: this.#options.client, version: "1" },
                    },
                });
            case "ping": return this.#post({ id, result: {} });
            case "tools/list":
                return this.#post({ id, result: { tools: [...this.#tools.values()].map(tool => tool.definition) } });
            case "tools/call": return this.#call(id, params);
            default: return this.#post({ id, error: { code: -32601, message: `unknown method ${method}` } });
        }
    }

    async #call(id, { name, arguments: given = {} }) {
        const tool = this.#tools.get(name);
        if (!tool) return this.#post({ id, error: { code: -32602, message: `unknown tool ${name}` } });
        const control = new AbortController();
        this.#calls.set(id, control);
        let result;
        try {
            const value = await tool.run(given, control.signal);
            result = value?.content ? value : { content: [{ type: "text", text: String(value) }] };
        } catch (error) {
            result = { content: [{ type: "text", text: String(error.message ?? error) }], isError: true };
        }
        // A call that was cancelled has no response.
        if (this.#calls.delete(id) && !control.signal.aborted) this.#post({ id, result });
    }
}
