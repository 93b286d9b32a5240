import Testing

@testable import MCPClientCLI

struct ResultPrinterTests {
    @Test(arguments: [
        ("out.txt", "image/png", "out-1.png"), ("dir.d/out", "audio/wav", "dir.d/out-1.wav"),
        ("dir/.hidden", "image/jpeg; q=1", "dir/.hidden-1.jpg"), (".hidden", "image/gif", ".hidden-1.gif"),
        ("a", "application/x-odd/../../etc", "a-1.bin"), ("a.b.c", "text/plain", "a.b-1.txt"),
    ])
    func namesOfFilesBesideTheFirst(file: String, mimeType: String, expected: String) {
        #expect(ResultPrinter.sideFile(file, 1, mimeType) == expected)
    }

    @Test(arguments: [(12, "12 B"), (999, "999 B"), (1000, "1 kB"), (1234, "1.2 kB"), (3_400_000, "3.4 MB")])
    func sizes(bytes: Int, text: String) {
        #expect(ByteSize.text(bytes) == text)
    }
}
