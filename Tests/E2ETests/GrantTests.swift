import Foundation
import MCPCore
import TestSupport
import Testing

extension E2E {
    /// What the user's flags give to views and take from them.
    @Suite struct GrantTests {
        // Section 2.3; security/permissions-allow-attr, security/global-allowlist, external-domain-warning
        @Test func flagsDecideWhatViewsMayUse() async throws {
            let (good, bad) = (try RequestRecorder(), try RequestRecorder())
            defer {
                good.stop()
                bad.stop()
            }
            let meta: JSONObject = [
                "permissions": ["camera": [:], "microphone": [:], "clipboardWrite": [:]],
                "csp": ["connectDomains": [.string(good.origin), .string("http://localhost:\(bad.port)")]],
            ]
            let server = try ViewServer("one", views: ["show": TestView.html()], meta: meta)
            let flags = ["--grant", "camera,clipboardWrite", "--block-domains", "localhost"]
            try await HostPage.with([server], flags: flags) { page in
                let view = try await page.show("show")
                let outer = try await page.run("return document.querySelector('[data-view] iframe').allow")
                #expect(
                    outer.stringValue?.hasPrefix("camera; clipboard-write; picture-in-picture 'none'; ")
                        == true)
                #expect(try await view.run("return frameElement.allow") == outer)
                // What browsers let every frame do, such as to open a window over the page.
                let allowed = try await view.run(
                    "return (document.featurePolicy?.allowedFeatures() ?? []).filter(one => "
                        + "['picture-in-picture', 'gamepad', 'storage-access', 'browsing-topics'].includes(one))"
                )
                #expect(allowed == [])
                let sandbox = try await view.run("return context.hostCapabilities.sandbox")
                #expect(sandbox["permissions"] == ["camera": [:], "clipboardWrite": [:]])
                #expect(sandbox["csp"]?["connectDomains"] == [.string(good.origin)])
                let script = "return fetch(arguments[0]).then(answer => answer.text(), error => error.name)"
                #expect(try await view.run(script, .string("http://localhost:\(bad.port)/")) == "TypeError")
                #expect(try await view.run(script, .string("\(good.origin)/")) == "ok")
                #expect(bad.requests.isEmpty && good.requests == ["GET /"])
                try await page.waitForText("camera", in: "[data-view] .badge")
            }
        }

        // A21: the document behind an address has changed since the last time
        @Test func anotherDocumentIsNoted() async throws {
            let file = NSTemporaryDirectory() + "mcp-e2e-\(UUID().uuidString.prefix(8)).jsonl"
            defer { try? FileManager.default.removeItem(atPath: file) }
            for (body, isNoted) in [("<p>a</p>", false), ("<p>a</p>", false), ("<p>b</p>", true)] {
                let server = try ViewServer("one", views: ["show": TestView.html(body: body)])
                try await HostPage.with([server], flags: ["--history", file]) { page in
                    let view = try await page.show("show")
                    let warning = "document.querySelector('[data-view=\"\(view.id)\"] .warning')"
                    #expect(try await page.run("return !\(warning).hidden") == .bool(isNoted))
                    if isNoted {
                        try await page.waitForText("differs from the one", in: "[data-view] .warning")
                    }
                    let hash = try await page.run("return document.querySelector('[data-view] code').title")
                    #expect(hash.stringValue?.contains("SHA-256 ") == true)
                    // The history is written when the call is over.
                    try await page.wait("return !!document.querySelector('#entries > li')")
                }
            }
        }
    }
}
