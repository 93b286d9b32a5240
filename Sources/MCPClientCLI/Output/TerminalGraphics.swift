import MCPCore

/// The escape sequences with which a terminal shows images.
enum TerminalGraphics: Sendable, Hashable {
    case kitty, iTerm

    /// The largest image that is shown.
    static let maxBytes = 8 << 20
    /// The number of characters in one sequence of the kitty protocol.
    private static let chunk = 4_096

    /// Returns the protocol of the terminal, as its variables tell; nil if it shows no images.
    init?(_ variable: (String) -> String?) {
        let program = variable("TERM_PROGRAM")?.lowercased() ?? ""
        let term = variable("TERM")?.lowercased() ?? ""
        if variable("KITTY_WINDOW_ID") != nil || term.contains("kitty") || program == "ghostty" {
            self = .kitty
        } else if ["iterm.app", "wezterm", "mintty", "rio"].contains(program)
            || variable("LC_TERMINAL")?.lowercased() == "iterm2"
        {
            self = .iTerm
        } else {
            return nil
        }
    }

    /// Returns what shows the image; nil if the terminal cannot show it.
    func text(_ bytes: [UInt8]) -> String? {
        guard isImage(bytes), bytes.count <= Self.maxBytes else { return nil }
        let data = Base64.encode(bytes)
        switch self {
        // https://iterm2.com/documentation-images.html
        case .iTerm: return "\u{1B}]1337;File=inline=1;size=\(bytes.count):\(data)\u{07}\n"
        // https://sw.kovidgoyal.net/kitty/graphics-protocol
        case .kitty:
            var out = ""
            var rest = Array(data.utf8)[...]
            var control = "f=100,a=T,"
            while !rest.isEmpty {
                let part = rest.prefix(Self.chunk)
                rest = rest.dropFirst(Self.chunk)
                out += "\u{1B}_G\(control)m=\(rest.isEmpty ? 0 : 1);"
                out += String(decoding: part, as: UTF8.self) + "\u{1B}\\"
                control = ""
            }
            return out + "\n"
        }
    }

    /// Returns why an image is not shown.
    func reason(_ bytes: [UInt8]) -> String {
        if bytes.count > Self.maxBytes { return "the image is larger than \(ByteSize.text(Self.maxBytes))" }
        return self == .kitty ? "this terminal shows PNG only" : "this is not an image that terminals show"
    }

    /// Whether the bytes begin as an image does: what a server calls an image may be anything.
    private func isImage(_ bytes: [UInt8]) -> Bool {
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return true }
        if self == .kitty { return false }
        let isWebP = bytes.starts(with: Array("RIFF".utf8)) && bytes.dropFirst(8).starts(with: "WEBP".utf8)
        return bytes.starts(with: [0xFF, 0xD8, 0xFF]) || bytes.starts(with: "GIF8".utf8) || isWebP
    }
}
