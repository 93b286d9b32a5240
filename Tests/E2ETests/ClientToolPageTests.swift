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
