import MCPApps
import MCPCore

/// The files of the page and of the sandbox, as built into the program.
enum HostAssets {
    struct Asset {
        let type: String
        let bytes: [UInt8]
    }

    /// Returns the asset at a path of the page's own listener.
    static func asset(atPath path: String) -> Asset? {
        switch path {
        case "/": Asset(type: "text/html; charset=utf-8", bytes: PackageResources.index_html)
        case "/app.css": Asset(type: "text/css; charset=utf-8", bytes: PackageResources.app_css)
        case "/app.js": script(PackageResources.app_js)
        case "/api.js": script(PackageResources.api_js)
        case "/cards.js": script(PackageResources.cards_js)
        case "/dom.js": script(PackageResources.dom_js)
        case "/form.js": script(PackageResources.form_js)
        case "/guard.js": script(PackageResources.guard_js)
        case "/questions.js": script(PackageResources.questions_js)
        case "/relay.js": script(PackageResources.relay_js)
        default: nil
        }
    }

    private static func script(_ bytes: [UInt8]) -> Asset {
        Asset(type: "text/javascript; charset=utf-8", bytes: bytes)
    }

    /// Returns the document of the outer frame of a view. Neither parameter comes from outside this program.
    ///
    /// - Parameters:
    ///   - host: the origin of the page.
    ///   - allow: the features of the device that the view may use.
    static func sandbox(host: String, allow: String) -> [UInt8] {
        filled(
            PackageResources.sandbox_html,
            [
                "{{HOST}}": host, "{{ALLOW}}": allow, "{{LIMIT}}": "\(AppHost.maxMessageBytes)",
            ])
    }

    /// Returns the document which shows that names below `localhost` lead here.
    static func probe(host: String) -> [UInt8] { filled(PackageResources.probe_html, ["{{HOST}}": host]) }

    private static func filled(_ bytes: [UInt8], _ values: [String: String]) -> [UInt8] {
        var text = String(decoding: bytes, as: UTF8.self)
        for (mark, value) in values {
            guard let first = text.firstRange(of: mark) else { continue }
            text.replaceSubrange(first, with: value)
        }
        return Array(text.utf8)
    }
}
