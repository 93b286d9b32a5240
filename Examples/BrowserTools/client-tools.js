// Offers tools of a web page to the agents of an mcp-server, as a small MCP server over an event stream.
//
//     const provider = new ToolProvider({ daemon: "https://mcp.example.com", channel: "general", client: "my-page", token });
//     provider.add({ name: "title", description: "The title of the page", inputSchema: { type: "object" } },
//         async () => document.title);
//     provider.connect();

// What a proxy or a busy daemon answers for a while.
const temporary = [429, 502, 503, 504];

export class ToolProvider {
    #options;
    #tools = new Map();
    // The event stream, the address for messages, and the calls that run, by the daemon's ids. These begin anew with each
    // connection: a call of an earlier one finds neither these calls nor this address.
    #connection = null;
    #pause = 0;
    #timer = 0;
    #silence = 0;
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
        this.#post(this.#connection, { method: "notifications/tools/list_changed" });
    }

    remove(name) {
        this.#tools.delete(name);
        this.#post(this.#connection, { method: "notifications/tools/list_changed" });
    }

    /** Connects, and connects again whenever the connection is lost. */
    async connect() {
        this.#end();
        this.#isWanted = true;
        const connection = this.#connection = { source: null, messages: null, calls: new Map() };
        let address;
        try {
            address = await this.#address();
        } catch (error) {
            this.#lose(connection, error.message);
            return;
        }
        // Closed in the meantime.
        if (connection !== this.#connection) return;
        const source = connection.source = new EventSource(address);
        this.#listen(connection);
        source.addEventListener("endpoint", event => {
            connection.messages = new URL(event.data, source.url);
            this.#pause = 0;
            this.#options.onState("connected");
        });
        source.onmessage = event => {
            this.#listen(connection);
            this.#receive(connection, JSON.parse(event.data));
        };
        // The ticket is void: the browser's own attempts would all be refused.
        source.onerror = async () => {
            source.close();
            clearTimeout(this.#silence);
            this.#lose(connection, connection.messages ? "the connection was lost" : await this.#problem());
        };
    }

    /** Ends the connection; `connect` opens another one. */
    close() {
        this.#isWanted = false;
        this.#end();
    }

    /** The address of an event stream. */
    async #address() {
        const { channel, client, daemon } = this.#options;
        // An EventSource cannot send the token, and in a URL it would end up in logs: a ticket opens one stream.
        const answer = await this.#fetch(`/client-tools/ticket?${new URLSearchParams({ channel })}`, "{}");
        if (!answer.ok) throw new Error(await this.#reason(answer));
        const { ticket } = await answer.json();
        return new URL(`/providers?${new URLSearchParams({ channel, client, ticket, report: 1 })}`, daemon);
    }

    /** Why a stream does not open, which an EventSource does not say. */
    async #problem() {
        try {
            const answer = await fetch(await this.#address(), {
                credentials: "omit", cache: "no-store", signal: AbortSignal.timeout(10_000),
            });
            if (!answer.ok) return await this.#reason(answer);
            await answer.body.cancel();
            return "the connection was lost";
        } catch (error) {
            return error.message;
        }
    }

    /** What a refusal says: the daemon's is JSON, that of a proxy may be anything. */
    async #reason(answer) {
        const body = await answer.json().catch(() => null);
        return body?.error ?? `the daemon, or a proxy, answered ${answer.status}`;
    }

    /** The daemon sends a message at least every 20 s: without any, the network is gone. */
    #listen(connection) {
        clearTimeout(this.#silence);
        this.#silence = setTimeout(() => this.#lose(connection, "the daemon is silent"), 75_000);
    }

    #end() {
        clearTimeout(this.#timer);
        clearTimeout(this.#silence);
        const connection = this.#connection;
        this.#connection = null;
        connection?.source?.close();
        for (const call of connection?.calls.values() ?? []) call.abort();
    }

    /** Ends a connection, if it is still the one in use, and connects again after a while. */
    #lose(connection, reason) {
        if (connection !== this.#connection) return;
        this.#end();
        this.#pause = Math.min(30_000, this.#pause * 2 || 500);
        this.#options.onState(reason);
        this.#timer = setTimeout(() => this.connect(), this.#pause * (0.5 + Math.random() / 2));
    }

    #fetch(path, body) {
        return fetch(new URL(path, this.#options.daemon), {
            method: "POST", body, credentials: "omit", signal: AbortSignal.timeout(30_000),
            headers: { "Content-Type": "application/json", Authorization: `Bearer ${this.#options.token}` },
        });
    }

    /** Sends a message, also a few times where it does not arrive: without its result a call would wait in vain. */
    async #post(connection, message) {
        if (!connection?.messages) return;
        let body;
        try {
            body = JSON.stringify({ jsonrpc: "2.0", ...message });
        } catch (error) {
            // Such as a BigInt, or an object that contains itself.
            return this.#fail(connection, message, `the result is no JSON: ${error.message}`);
        }
        for (const pause of [500, 1_000, 2_000, 0]) {
            if (connection !== this.#connection) return;
            const answer = await this.#fetch(connection.messages, body)
                .catch(error => ({ ok: false, status: error.message }));
            if (answer.ok) return;
            if (pause && (typeof answer.status === "string" || temporary.includes(answer.status))) {
                await new Promise(done => setTimeout(done, pause));
                continue;
            }
            console.warn(`the daemon refused a message: ${answer.status}`);
            return this.#fail(connection, message, `the daemon refused the result: ${answer.status}`);
        }
    }

    /** Answers a request with an error, in place of a result that cannot be sent. */
    #fail(connection, { id, result }, text) {
        if (result) return this.#post(connection, { id, error: { code: -32603, message: text } });
    }

    async #receive(connection, { id, method, params }) {
        if (method === "mcpcore/clientTools/registered") return this.#options.onReport(params);
        if (method === "notifications/cancelled") return connection.calls.get(params.requestId)?.abort();
        if (id === undefined) return;
        const reply = message => this.#post(connection, { id, ...message });
        switch (method) {
            case "initialize":
                return reply({
                    result: {
                        protocolVersion: "2025-11-25", capabilities: { tools: { listChanged: true } },
                        serverInfo: { name: this.#options.client, version: "1" },
                    },
                });
            case "ping": return reply({ result: {} });
            case "tools/list":
                return reply({ result: { tools: [...this.#tools.values()].map(tool => tool.definition) } });
            case "tools/call": {
                const tool = this.#tools.get(params.name);
                if (!tool) return reply({ error: { code: -32602, message: `unknown tool ${params.name}` } });
                const control = new AbortController();
                connection.calls.set(id, control);
                const result = await this.#run(tool, params.arguments ?? {}, control.signal);
                connection.calls.delete(id);
                // A call that was cancelled has no response.
                return control.signal.aborted ? undefined : reply({ result });
            }
            default: return reply({ error: { code: -32601, message: `unknown method ${method}` } });
        }
    }

    async #run(tool, given, signal) {
        try {
            const value = await tool.run(given, signal);
            return value?.content ? value : { content: [{ type: "text", text: String(value) }] };
        } catch (error) {
            // Anything can be thrown, also null and objects that have no text.
            const text = [error?.message, error].find(text => text && typeof text === "string");
            return { content: [{ type: "text", text: text ?? "the tool failed" }], isError: true };
        }
    }
}
