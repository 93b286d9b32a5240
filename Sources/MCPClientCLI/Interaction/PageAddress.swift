import MCPApps
import MCPCore

/// The address of a page that a server asks a person to open.
enum PageAddress {
    /// The longest one, in bytes.
    static var maxBytes: Int { WebAddress.maxBytes }

    /// Whether it is one of a web page: `javascript:`, `file:` and the like would do something else on this
    /// machine, and a word that begins with `-` would be a flag of whatever opens it.
    static func isOne(_ url: String) -> Bool {
        WebAddress.isOne(url) && VisibleText.line(url).utf8.elementsEqual(url.utf8)
    }

    /// The host, as it is written; empty if there is none.
    static func host(of url: String) -> String { WebAddress.host(of: url) }

    /// What a person should know before the page is opened.
    static func cautions(_ url: String) -> [String] {
        var cautions: [String] = []
        if WebAddress.isForeign(host(of: url)) {
            cautions.append("the host name contains letters of another script")
        }
        if WebAddress.hasUserName(url) {
            cautions.append("what precedes the @ is a user name, not a host")
        }
        return cautions
    }
}
