import MCPApps
import Testing

/// Addresses that a browser may be sent to, as a browser reads them.
@Suite struct WebAddressTests {
    // D12
    @Test(arguments: [
        ("http:///x", ""), ("https://a.b/c", "a.b"), ("https://user:x@evil.example/", "evil.example"),
        ("https://bank.example\\@evil.example/", "bank.example"), ("http://[::1]:3000/x", "[::1]"),
        ("https://a.b:80?x@y", "a.b"), ("https://", ""), ("https://@/", ""),
        // A delimiter and a mark or a joiner behind it are one character in Swift, and two for a browser.
        ("http://127.0.0.1:34900/\u{301}@bank.example/login", "127.0.0.1"),
        ("http://127.0.0.1:34900/\u{200D}@bank.example/login", "127.0.0.1"),
        ("http://a.b?\u{301}@bank.example/", "a.b"), ("http://a.b#\u{FE0F}@bank.example/", "a.b"),
        ("http://a.b\\\u{301}@bank.example/", "a.b"), ("https://bank.example@\u{0D4E}@a.b/", "a.b"),
        ("https://[::1]:3000/\u{301}]@bank.example/", "[::1]"),
    ])
    func hostOfAnAddress(_ url: String, _ host: String) {
        #expect(WebAddress.host(of: url) == host)
        #expect(WebAddress.isOne(url) == !host.isEmpty)
    }

    @Test func whatIsStrangeAboutAnAddressIsSaid() {
        #expect(WebAddress.warnings(about: "https://example.com/").isEmpty)
        #expect(WebAddress.warnings(about: "https://bank.example@evil.example/").count == 1)
        #expect(WebAddress.warnings(about: "https://xn--pple-43d.com/").count == 1)
        #expect(WebAddress.warnings(about: "http://a:b@\u{430}pple.com/").count == 3)
    }

    // What a browser makes of an address is what counts, in whatever form it is written.
    @Test(arguments: [
        ("https://2130706433/", "127.0.0.1", "this machine"), ("https://127.1/", "127.0.0.1", "this machine"),
        ("https://0x7F.0.0.1:80/", "127.0.0.1", "this machine"),
        ("https://0177.0.0.01/", "127.0.0.1", "this machine"),
        ("https://127.0.0.1/", nil, "this machine"), ("https://0/", "0.0.0.0", "this machine"),
        ("https://\u{FF11}27\u{3002}0.0.1/", "127.0.0.1", "this machine"),
        ("https://%31%32%37.0.0.1/", "127.0.0.1", "this machine"),
        ("https://localhost/", nil, "this machine"), ("https://a.LOCALHOST:1/", nil, "this machine"),
        ("https://[::1]/", nil, "this machine"), ("https://[::ffff:127.0.0.1]/", nil, "this machine"),
        ("https://[::ffff:7f00:1]/", nil, "this machine"),
        ("https://192.168.1.1/", nil, "a machine in your own network"),
        ("https://10.1/", "10.0.0.1", "a machine in your own network"),
        ("https://[fe80::1]/", nil, "a machine in your own network"),
        ("https://[fd00:0:0:0:0:0:0:1]/", nil, "a machine in your own network"),
        ("https://[0:0:0:0:0:0:0:1]/", nil, "this machine"), ("https://[0::1]/", nil, "this machine"),
        ("https://[0:0:0:0:0:0:0.0.0.1]/", nil, "this machine"), ("https://[::0:0]/", nil, "this machine"),
        ("https://[0:0:0:0:0:ffff:127.0.0.1]/", nil, "this machine"),
        ("https://[0:0::FFFF:7F00:0001]/", nil, "this machine"),
        ("https://[::127.0.0.1]/", nil, "this machine"),
        ("https://[64:ff9b::192.168.0.1]/", nil, "a machine in your own network"),
        ("https://[64:ff9b:1::127.0.0.1]/", nil, "this machine"),
        ("https://[::ffff:0:10.1.2.3]/", nil, "a machine in your own network"),
        ("https://[2002:7f00:1::5]/", nil, "this machine"),
        ("https://[2002:808:808::1]/", nil, nil),
        ("https://nas.local/", nil, "a machine in your own network"),
        ("https://router/", nil, "a machine in your own network"),
        ("https://a.home.arpa./", nil, "a machine in your own network"),
        ("https://db.internal/", nil, "a machine in your own network"),
        ("https://printer.LAN/", nil, "a machine in your own network"),
        ("https://100.64.0.1/", nil, "a machine in your own network"),
        ("https://100.127.255.255/", nil, "a machine in your own network"),
        ("https://[fc00::1]/", nil, "a machine in your own network"),
        ("https://100.63.0.1/", nil, nil), ("https://100.128.0.1/", nil, nil),
        ("https://home.arpa.example/", nil, nil), ("https://local.example/", nil, nil),
        ("https://[::ffff:8.8.8.8]/", nil, nil), ("https://[1::]/", nil, nil),
        ("https://localhost./", nil, "this machine"),
        ("https://127.0.0.1%2eevil.example/", "127.0.0.1.evil.example", nil),
        ("https://8.8.8.8/", nil, nil), ("https://example.com:65535/", nil, nil),
        ("https://127.0.0.1.example/", nil, nil), ("https://[2001:db8::1]/", nil, nil),
    ])
    func whereAnAddressLeadsIsSaid(_ url: String, _ read: String?, _ place: String?) {
        #expect(WebAddress.isOne(url))
        let warnings = WebAddress.warnings(about: url)
        #expect(warnings.contains { $0.hasPrefix("It leads to ") } == (place != nil), "\(warnings)")
        if let place { #expect(warnings.contains("It leads to \(place)."), "\(warnings)") }
        #expect(warnings.contains { $0.hasPrefix("A browser reads ") } == (read != nil), "\(warnings)")
        if let read { #expect(warnings.contains { $0.hasSuffix(" as \(read).") }, "\(warnings)") }
    }

    // The user is not asked about what no browser opens.
    @Test(arguments: [
        "https://a.example:99999/", "https://a.example:8x/", "https://a.example:-1/", "https://[::1]x/",
        "https://1.2.3.4.5/", "https://256.1.1.1/", "https://4294967296/", "https://09/", "https://[::1/",
        "https://a%2fb/", "https://a%00b/", "https://a%ffb/", "https://a<b/", "https://[::g]/",
        "https://[1::2::3]/", "https://[1:2:3:4:5:6:7]/", "https://[1:2:3:4:5:6:7:8:9]/", "https://[:::1]/",
        "https://[::01.2.3.4]/", "https://[1.2.3.4::]/", "https://[::12345]/", "https://[1:2:3:4:5:6:7::8]/",
        "https:///a.b/", "https://\u{301}/", "https://127.0.0.1\u{200D}/",
    ])
    func anAddressThatNoBrowserOpens(_ url: String) {
        #expect(!WebAddress.isOne(url))
    }

    // A browser reads such a name as another one: `localhost`, for example.
    @Test(arguments: [
        "\u{24DB}ocalhost", "localho\u{17F}t", "lo\u{AD}calhost", "%e2%84%93ocalhost", "\u{2113}ocalhost",
        "\u{1D7CF}27.0.0.1", "\u{2460}.1.1.1", "local\u{200B}host", "localhost.\u{301}", "\u{AA}.example",
        "a.\u{301}localhost", "\u{FB01}.example", "\u{2488}1.1.1",
    ])
    func aNameThatABrowserReadsAsAnotherOneIsRefused(_ host: String) {
        #expect(!WebAddress.isOne("https://\(host)/"))
    }

    @Test(arguments: [
        "m\u{FC}nchen.example", "mu\u{308}nchen.example", "\u{65E5}\u{672C}.example",
        "\u{43F}\u{440}.example", "stra\u{DF}e.example", "\u{928}\u{92E}\u{938}\u{94D}.example",
        "%d0%bf.example",
    ])
    func aNameInAnyScriptIsOne(_ host: String) {
        #expect(WebAddress.isOne("https://\(host)/"))
        let warnings = WebAddress.warnings(about: "https://\(host)/")
        #expect(warnings.contains { $0.hasSuffix("contains letters that can look like others.") })
    }
}
