import MCPApps
import MCPCore
import MCPHarness
import Testing

/// Loading the document of a view.
@Suite struct UIResourceTests {
    private static let uri = "ui://clock/face"

    private func contents(
        text: String? = "<p>x</p>", blob: String? = nil, type: String? = UIExtension.mimeType,
        uri: String = uri, meta: JSONObject? = nil
    ) -> ResourceContents {
        ResourceContents(uri: uri, mimeType: type, text: text, blob: blob, meta: meta)
    }

    // A16
    @Test func textAndBlob() throws {
        let text = try UIResource.load(Self.uri, read: [contents()], listed: nil)
        #expect(text.html == "<p>x</p>")
        #expect(text.hash == "\(Hex.encode(SHA256.hash("<p>x</p>".utf8).bytes))")
        #expect(text.hash.count == 64)
        #expect(text.meta == UIResourceMeta())
        let blob = try UIResource.load(
            Self.uri, read: [contents(text: nil, blob: Base64.encode("<p>ü</p>".utf8))], listed: nil)
        #expect(blob.html == "<p>ü</p>")
        #expect(blob.hash != text.hash)
    }

    // A16
    @Test func theContentsOfTheAddressCount() throws {
        let result = [contents(text: "other", uri: "ui://other/x"), contents(text: "wanted")]
        #expect(try UIResource.load(Self.uri, read: result, listed: nil).html == "wanted")
    }

    // A16
    @Test func whatCannotBeShown() {
        func error(_ result: [ResourceContents], _ uri: String = UIResourceTests.uri) -> UIResourceError? {
            do {
                _ = try UIResource.load(uri, read: result, listed: nil)
                return nil
            } catch {
                return error
            }
        }
        #expect(error([]) == .noContents(Self.uri))
        #expect(error([contents(type: "text/html")]) == .wrongType("text/html", uri: Self.uri))
        #expect(error([contents(type: nil)]) == .wrongType(nil, uri: Self.uri))
        #expect(error([contents(text: nil)]) == .unreadable(Self.uri))
        #expect(error([contents(text: nil, blob: "%%%%")]) == .unreadable(Self.uri))
        #expect(error([contents(text: nil, blob: Base64.encode([0xFF, 0xFE]))]) == .unreadable(Self.uri))
        for bad in ["http://x/y", "ui://", "UI://x", "", "ui://a b", "ui://a\n"] {
            #expect(error([contents()], bad) == .invalidURI(bad))
        }
        let long = String(repeating: "a", count: UIResource.maxBytes + 1)
        #expect(error([contents(text: long)]) == .tooLarge(bytes: UIResource.maxBytes + 1))
        #expect(error([contents(text: String(long.dropLast()))]) == nil)
        let blob = String(repeating: "A", count: UIResource.maxBytes / 3 * 4 + 8)
        #expect(error([contents(text: nil, blob: blob)]).map { "\($0)".contains("8 MiB") } == true)
    }

    @Test(arguments: [
        UIResourceError.noContents("ui://x/\u{1B}[2J"), .wrongType("text/\nhtml", uri: "ui://x"),
        .invalidURI(String(repeating: "x", count: 10_000)), .unreadable(""), .tooLarge(bytes: 9_000_000),
    ])
    func errorsAreOneReadableLine(error: UIResourceError) {
        #expect(error.description.utf8.count < 500)
        #expect(error.description.utf8.allSatisfy { $0 >= 0x20 })
    }

    @Test(arguments: [
        ("text/html;profile=mcp-app", true), ("Text/HTML; Profile=mcp-app", true),
        ("text/html; charset=utf-8; profile=\"mcp-app\"", true), ("text/html", false),
        ("text/html+mcp", false), ("text/html;profile=mcp-apps", false), ("", false),
        ("application/json;profile=mcp-app", false),
    ])
    func mediaTypes(type: String, isView: Bool) {
        #expect(UIExtension.isViewType(type) == isView)
    }

    // Servers that were written for a draft of 2025.
    @Test(arguments: [
        ("text/html+mcp", true), ("Text/HTML+MCP; charset=utf-8", true), ("text/html;profile=mcp", true),
        ("text/html; profile=\"mcp\"", true), ("text/html;profile=mcp-app", true), ("text/html", false),
        ("text/html+skybridge", false), ("text/html;profile=other", false), ("text/uri-list", false),
        ("text/plain;profile=mcp", false), ("application/vnd.mcp-ui.remote-dom", false),
    ])
    func mediaTypesOfDrafts(type: String, isShown: Bool) throws {
        let tool = Tool("t", meta: ["ui/resourceUri": .string(Self.uri)])
        let uri = try #require(try tool.uiResourceURI())
        let loaded = try? UIResource.load(uri, read: [contents(type: type)], listed: nil)
        #expect((loaded?.html == "<p>x</p>") == isShown)
    }

    // MARK: Metadata

    private static let meta: JSONObject = [
        "ui": [
            "csp": ["connectDomains": ["https://a.example", 5], "frameDomains": "x"],
            "permissions": ["camera": [:], "clipboardWrite": [:], "microphone": true, "unknown": [:]],
            "domain": "d", "prefersBorder": false,
        ]
    ]
    private static let read = UIResourceMeta(
        csp: UICSPDomains(connect: ["https://a.example"]), permissions: [.camera, .clipboardWrite],
        domain: "d",
        prefersBorder: false)

    // A17
    @Test func theContentWinsOverTheListing() throws {
        let listed = Resource(Self.uri, name: "x", meta: ["ui": ["prefersBorder": true]])
        let own = try UIResource.load(Self.uri, read: [contents(meta: Self.meta)], listed: listed)
        #expect(own.meta == Self.read)
        let fromList = try UIResource.load(Self.uri, read: [contents()], listed: listed)
        #expect(fromList.meta == UIResourceMeta(prefersBorder: true))
        #expect(UIResourceMeta(json: .object(Self.read.json)) == Self.read)
        #expect(UIResourceMeta().json == [:])
    }

    /// As some servers spell it.
    @Test func metaWithoutTheUnderscore() throws {
        let read = try ResourceContents(
            json: [
                "uri": .string(Self.uri), "mimeType": .string(UIExtension.mimeType), "text": "x",
                "meta": .object(Self.meta),
            ])
        #expect(try UIResource.load(Self.uri, read: [read], listed: nil).meta == Self.read)
        let listed = try Resource(json: ["uri": .string(Self.uri), "name": "x", "meta": .object(Self.meta)])
        #expect(try UIResource.load(Self.uri, read: [contents()], listed: listed).meta == Self.read)
        // Any other member of that name is foreign data, as ever.
        #expect(try Resource(json: ["uri": "x", "name": "x", "meta": ["a": 1]]).meta == nil)
    }

    @Test(
        arguments: [.null, [], "x", ["csp": [], "permissions": [], "domain": 1, "prefersBorder": "y"]]
            as [JSONValue])
    func metadataThatDoesNotFit(json: JSONValue) {
        #expect(UIResourceMeta(json: json) == UIResourceMeta())
    }

    // security/permissions-allow-attr
    @Test func allowAttribute() {
        let denied = UIPermission.allowAttribute([])
        #expect(denied.hasPrefix("picture-in-picture 'none'; "))
        #expect(denied.split(separator: ";").allSatisfy { $0.hasSuffix(" 'none'") })
        #expect(
            UIPermission.allowAttribute([.clipboardWrite, .camera]) == "camera; clipboard-write; \(denied)")
        #expect(
            UIPermission.allowAttribute(Set(UIPermission.allCases))
                == "camera; microphone; geolocation; clipboard-write; \(denied)")
    }

    // MARK: Tools

    // EXT-02, A16
    @Test func theAddressOfATool() throws {
        func uri(_ meta: JSONObject?) throws -> String? { try Tool("t", meta: meta).uiResourceURI() }
        #expect(try uri(nil) == nil)
        #expect(try uri(["ui": [:]]) == nil)
        #expect(try uri(["ui": ["resourceUri": "ui://a"]]) == "ui://a")
        #expect(try uri(["ui/resourceUri": "ui://old"]) == "ui://old")
        #expect(try uri(["ui": ["resourceUri": "ui://new"], "ui/resourceUri": "ui://old"]) == "ui://new")
        for bad in ["https://a", 5, .null, "ui://"] as [JSONValue] {
            #expect(throws: UIResourceError.self) { try uri(["ui": ["resourceUri": bad]]) }
            #expect(throws: UIResourceError.self) { try uri(["ui/resourceUri": bad]) }
        }
    }

    // EXT-03, A38
    @Test func visibility() {
        func visibility(_ json: JSONValue?) -> Set<ToolAudience> {
            var ui = JSONObject()
            ui["visibility"] = json
            return Tool("t", meta: ["ui": .object(ui)]).visibility
        }
        #expect(Tool("t").visibility == [.model, .app])
        #expect(visibility(nil) == [.model, .app])
        #expect(visibility(["model"]) == [.model])
        #expect(visibility(["app", "future", 5]) == [.app])
        #expect(visibility([]) == [])
        #expect(visibility("app") == [.model, .app])
    }
}
