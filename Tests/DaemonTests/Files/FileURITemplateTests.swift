import MCPCore
import Testing

@testable import MCPServerDaemon

@Suite struct FileURITemplateTests {
    // Fault row 99: names that would break an address.
    @Test(arguments: [
        "a.md", "x/y z.md", "ü.md", "-rf", "a\nb", "100%", "a?b#c", "..x", "\u{202E}gpj", "a{b}",
    ])
    func goesThereAndBack(path: String) throws {
        let template = try FileURITemplate("docs:///{+path}")
        let uri = template.uri(of: path)
        #expect(uri.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        #expect(template.path(of: uri) == path)
    }

    @Test func escapesAllButUnreserved() throws {
        #expect(try FileURITemplate("docs:///{+path}").uri(of: "a b/ü~") == "docs:///a%20b/%C3%BC~")
    }

    @Test(arguments: [
        "docs:///", "other:///a", "docs:///%", "docs:///%4", "docs:///%zz", "docs:///%00", "docs:///%FF",
    ])
    func namesNoFile(uri: String) throws {
        #expect(try FileURITemplate("docs:///{+path}").path(of: uri) == nil)
    }

    @Test(arguments: [
        "docs", "docs:///", "{+path}", "docs:///{path}/{+path}", "docs:///{x}", "do cs:///{+path}",
        "1:{path}",
    ])
    func refuses(text: String) {
        #expect(throws: FileURITemplate.Flaw.self) { try FileURITemplate(text) }
    }
}
