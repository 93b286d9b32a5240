@testable import MCPApps
@testable import MCPCore

/// Small readers and writers: one spelling per value, and what is written is read.
enum SmallTarget {
    static func check(_ input: [UInt8]) throws {
        try checkEncodings(input)
        try checkHeaders(input.text)
        try checkFormats(input.text)
        try checkPaths(input.text)
        // To Swift, a separator and a mark that combines with it are one character.
        try checkPaths(
            input.text.unicodeScalars.reduce(into: "") { text, scalar in
                text.unicodeScalars.append(scalar)
                if scalar == "/" { text.unicodeScalars.append("\u{301}") }
            })
        try checkPolicies(input.text)
        try checkTemplate(input)
    }

    private static func checkEncodings(_ input: [UInt8]) throws {
        try require(Base64.decode(Base64.encode(input)) == input, "base64")
        try require(Base64URL.decode(Base64URL.encode(input)) == input, "base64url")
        try require(Hex.decode(Hex.encode(input)) == input, "hex")
        if let bytes = Base64.decode(input) {
            try require(Array(Base64.encode(bytes).utf8) == input, "base64 has two spellings")
        }
        if let bytes = Base64URL.decode(input) {
            try require(Array(Base64URL.encode(bytes).utf8) == input, "base64url has two spellings")
        }
        if let text = PercentCoding.decode(input) {
            try require(text.utf8.count <= input.count, "decoded text is longer")
        }
    }

    private static func checkHeaders(_ text: String) throws {
        let value = MCPHeaderValue.encode(text)
        try require(value.utf8.allSatisfy { (0x20 ... 0x7E).contains($0) }, "a header value \(value)")
        let decoded = MCPHeaderValue.decode(ByteSlice(value))
        try require(decoded == text, "a header value \(value) is \(decoded ?? "nothing")")
        if let fields = try? HeaderFields(["a": text]), let value = fields["a"] {
            try require(
                !value.utf8.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0 }, "a field with a line end")
        }
        _ = MediaType.isJSON(ByteSlice(text))
        _ = MediaType.isEventStream(ByteSlice(text))
        if let number = JSONNumber(text: text) {
            try require(JSONNumber(text: number.text) == number, "the number \(number.text)")
        }
        _ = CursorSeal(keys: StateKeys(Array(repeating: 7, count: 32))).open(text, for: .toolsList)
    }

    private static func checkFormats(_ text: String) throws {
        for format in StringFormat.allCases {
            _ = try limited("\(format)", to: 0.5) { format.accepts(text) }
        }
        _ = try? HTTPEndpoint(url: text)
        _ = try? HTTPEndpoint(url: "http://127.0.0.1:80/x").target(of: text)
        _ = WebAddress.isOne(text)
    }

    /// What one call of the system opens is one component: to the kernel, a separator is a byte.
    private static func checkPaths(_ text: String) throws {
        guard let components = try? RootDirectory.components(text) else { return }
        for component in components {
            try require(
                !component.utf8.contains { $0 == 0x2F || $0 == 0 }, "\(component) has several components")
            try require(
                !component.utf8.elementsEqual("..".utf8) && !component.utf8.elementsEqual(".".utf8)
                    && !component.isEmpty, "the component \(component) of \(text)")
        }
    }

    private static func checkPolicies(_ text: String) throws {
        let forbidden = Set(";,'\"".utf8)
        if let source = CSPSource(text) ?? CSPSource(text, allowsBareHosts: true) {
            try require(
                source.text.utf8.allSatisfy { (0x21 ... 0x7E).contains($0) && !forbidden.contains($0) },
                "a source \(source.text)")
            try require(
                CSPSource(source.text, allowsBareHosts: true)?.text == source.text,
                "read again: \(source.text)")
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let domains = UICSPDomains(connect: lines, resource: lines, frame: lines, baseURI: lines)
        let header = UICSP(domains: domains).header(hostOrigin: "http://h")
        try require(header.split(separator: ";").count <= 15, "directives were added: \(header)")
        try require(
            header.utf8.allSatisfy { (0x20 ... 0x7E).contains($0) && $0 != 0x2C }, "a header \(header)")
    }

    private static func checkTemplate(_ input: [UInt8]) throws {
        guard let template = try? URITemplate(input.halves.first.text) else { return }
        _ = try limited("the template", to: 0.5) { template.match(input.halves.second.text) }
    }
}
