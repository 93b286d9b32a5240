import Foundation
import MCPCore
import TestSupport
import Testing

extension E2E {
    /// The example page that offers tools, on an origin of its own.
    @Suite struct ClientToolPageTests {
        /// A web server with the files of the example.
        private struct Files: HTTPRequestHandler {
            func respond(to request: HTTPRequest) async -> HTTPResponse {
                let name = request.path == "/" ? "index.html" : String(request.path.dropFirst())
                guard ["index.html", "client-tools.js"].contains(name),
                    let text = try? RepositoryFile.text("Examples/BrowserTools/\(name)")
                else { return .text("", status: 404) }
                let type = name.hasSuffix("js") ? "text/javascript" : "text/html; charset=utf-8"
                let headers = (try? HeaderFields(["Content-Type": "\(type)"])) ?? HeaderFields()
                return HTTPResponse(status: 200, headers: headers, body: .bytes(Array(text.utf8)))
            }
        }

        private struct World {
            let hub: ClientToolHub
            let daemon: RunningServer
            let files: HTTPServer
            let port: UInt16
            let page: String

            init(isAdmitted: Bool) throws {
                files = try HTTPServer(on: [.tcp(port: 0)])
                try files.start(Files())
                // Another host than the daemon's: another origin, whatever the port.
                page = "http://localhost:\(files.addresses.first?.port ?? 0)"
                hub = ClientToolHub { _ in
                    let server = MCPServer("daemon", version: "1")
                    server.addTool("read_note", "Of the server") { () in "own" }
                    return server
                }
                let endpoints = ClientToolEndpoints(
                    hub, token: "page-token", origins: isAdmitted ? [page] : [])
                var options = HTTPServerOptions()
                options.drainTimeout = .seconds(1)
                daemon = try hub.server().start([
                    .http(.tcp(port: 0), servers: endpoints, handler: endpoints, options: options)
                ])
                port = try #require(daemon.addresses.first?.port)
            }

            func offer(_ browser: Browser, token: String = "page-token") async throws {
                try await browser.open(page + "/")
                try await browser.run(
                    "document.querySelector('[name=daemon]').value = arguments[0]; "
                        + "document.querySelector('[name=token]').value = arguments[1];",
                    .string("http://127.0.0.1:\(port)"), .string(token))
                try await browser.click("button")
            }

            func stop(_ browser: Browser) async {
                try? await browser.open("about:blank")
                await hub.stop()
                await daemon.stop()
                await files.stop()
            }
        }

        // D10
        @Test func aModelUsesTheToolsOfAPage() async throws {
            let browser = try await Browser.shared.value
            let world = try World(isAdmitted: true)
            try await world.offer(browser)
            // What is accepted and refused stands on the page.
            try await browser.wait(
                "return state.textContent === 'Offered: write_note; read_note: a tool of the server has this name'"
            )
            let agent = try await MCPClient.connect(
                .http("http://127.0.0.1:\(world.port)/mcp/channels/general"))
            let result = try await agent.callTool("write_note", ["text": "Tea at five <b>"])
            #expect(result.text == "The note is shown." && !result.isError)
            #expect(try await browser.run("return note.textContent") == "Tea at five <b>")
            // The daemon's stream ends: the page connects again, with a new ticket.
            #expect(await world.hub.detach(channel: "general", clientID: "example-page"))
            for _ in 0 ..< 2_000 where await world.hub.counts.tools == 0 {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(try await agent.callTool("write_note", ["text": "again"]).text == "The note is shown.")
            // A page that is left is gone.
            try await browser.open("about:blank")
            for _ in 0 ..< 2_000 where await world.hub.counts.tools != 0 {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(await world.hub.counts.tools == 0)
            await agent.close()
            await world.stop(browser)
        }

        /// Opens the page with tools of the test's own: one that ends when the test says so, and one whose
        /// result is no JSON.
        private func offerOwnTools(_ browser: Browser, _ world: World) async throws {
            try await browser.open(world.page + "/")
            try await browser.run(
                """
                const [daemon, token] = arguments;
                return import("/client-tools.js").then(({ ToolProvider }) => {
                    window.ends = [];
                    const provider = new ToolProvider({
                        daemon, token, channel: "general", client: "page", onState: text => { window.state = text },
                    });
                    const inputSchema = { type: "object" };
                    provider.add({ name: "waits", description: "Waits", inputSchema },
                        () => new Promise(done => window.ends.push(done)));
                    provider.add({ name: "counts", description: "Counts", inputSchema },
                        () => ({ content: [], structuredContent: { many: 1n } }));
                    provider.add({ name: "throws", description: "Throws", inputSchema }, () => { throw null });
                    provider.connect();
                });
                """, .string("http://127.0.0.1:\(world.port)"), .string("page-token"))
            try await isOffered(world)
        }

        private func isOffered(_ world: World) async throws {
            for _ in 0 ..< 2_000 where await world.hub.counts.tools == 0 {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(await world.hub.counts.tools == 3)
        }

        /// The daemon's ids begin anew with each connection: a call of an earlier one ends no other.
        @Test func aCallOfAnEarlierConnectionEndsNoOther() async throws {
            let browser = try await Browser.shared.value
            let world = try World(isAdmitted: true)
            try await offerOwnTools(browser, world)
            let agent = try await MCPClient.connect(
                .http("http://127.0.0.1:\(world.port)/mcp/channels/general"))
            let first = Task { try? await agent.callTool("waits") }
            try await browser.wait("return ends.length === 1")
            #expect(await world.hub.detach(channel: "general", clientID: "page"))
            #expect(await first.value?.isError != false)
            try await isOffered(world)
            let second = Task { try await agent.callTool("waits").text }
            try await browser.wait("return ends.length === 2")
            try await browser.run("ends[0]('first')")
            try await browser.run("ends[1]('second')")
            #expect(try await second.value == "second")
            await agent.close()
            await world.stop(browser)
        }

        /// A call has an end when its result cannot be sent, and when it does not arrive at first.
        @Test func everyCallOfAPageEnds() async throws {
            let browser = try await Browser.shared.value
            let world = try World(isAdmitted: true)
            try await offerOwnTools(browser, world)
            let agent = try await MCPClient.connect(
                .http("http://127.0.0.1:\(world.port)/mcp/channels/general"))
            let counted = try await agent.callTool("counts")
            #expect(counted.isError && counted.text.contains("no JSON"))
            #expect(try await agent.callTool("throws").isError)
            try await browser.run(
                """
                const send = fetch;
                let failures = 2;
                window.fetch = (url, options) =>
                    String(url).includes("/messages") && options.body.includes("arrives") && failures-- > 0
                        ? Promise.resolve(new Response("", { status: 502 })) : send(url, options);
                """)
            let late = Task { try await agent.callTool("waits").text }
            try await browser.wait("return ends.length === 1")
            try await browser.run("ends[0]('arrives')")
            #expect(try await late.value == "arrives")
            await agent.close()
            await world.stop(browser)
        }

        /// An event stream that is refused does not say why: the page asks.
        @Test func aPageSaysWhyItsStreamIsRefused() async throws {
            let browser = try await Browser.shared.value
            let world = try World(isAdmitted: true)
            try await browser.open(world.page + "/")
            try await browser.run(
                """
                const [daemon, token] = arguments;
                return import("/client-tools.js").then(({ ToolProvider }) => new ToolProvider({
                    daemon, token, channel: "general", client: "a/b", onState: text => { window.state = text },
                }).connect());
                """, .string("http://127.0.0.1:\(world.port)"), .string("page-token"))
            try await browser.wait("return window.state === 'Invalid client'")
            await world.stop(browser)
        }

        @Test func aPageOfAnotherOriginIsRefusedByTheBrowser() async throws {
            let browser = try await Browser.shared.value
            let world = try World(isAdmitted: false)
            try await world.offer(browser)
            try await browser.wait("return state.textContent === 'Failed to fetch'")
            #expect(await world.hub.counts.clients == 0)
            await world.stop(browser)
        }

        @Test func aPageWithAWrongTokenIsToldSo() async throws {
            let browser = try await Browser.shared.value
            let world = try World(isAdmitted: true)
            try await world.offer(browser, token: "wrong")
            try await browser.wait("return state.textContent === 'Missing or wrong token'")
            #expect(await world.hub.counts.clients == 0)
            await world.stop(browser)
        }
    }
}
