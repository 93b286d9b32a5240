import Testing

@testable import MCPCore

@Suite struct MCPHeaderValueTests {
    // HDR-09, HDR-10, HDR-25
    @Test(arguments: [
        ("", ""), ("us-west1", "us-west1"), ("Hello, World", "Hello, World"), ("a b", "a b"), ("42", "42"),
        ("Hello, \u{4e16}\u{754c}", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="), ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("\tindented", "=?base64?CWluZGVudGVk?="), ("a\tb", "=?base64?YQli?="),
        ("trailing ", "=?base64?dHJhaWxpbmcg?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("=?base64??=", "=?base64?PT9iYXNlNjQ/Pz0=?="),
        ("=?base64?", "=?base64?"), ("=?BASE64?eA==?=", "=?BASE64?eA==?="), ("eA==?=", "eA==?="),
        ("\u{7f}", "=?base64?fw==?="), ("\0", "=?base64?AA==?="),
    ])
    func bothWays(text: String, value: String) {
        #expect(MCPHeaderValue.encode(text) == value)
        #expect(MCPHeaderValue.decode(ByteSlice(value)) == text)
    }

    // HDR-11: what lacks a marker, or writes it in another case, is literal.
    @Test(arguments: [
        ("=?base64?eA==", "=?base64?eA=="), ("=?Base64?eA==?=", "=?Base64?eA==?="),
        ("x=?base64?eA==?=", "x=?base64?eA==?="),
        ("=?base64?eA==?=", "x"), ("=?base64??=", ""), ("=?base64?=", "=?base64?="), ("a\tb", "a\tb"),
    ])
    func markersAreExact(value: String, text: String) {
        #expect(MCPHeaderValue.decode(ByteSlice(value)) == text)
    }

    // HDR-08, HDR-12
    @Test(arguments: [
        "=?base64?eA?=", "=?base64?eA=?=", "=?base64?eB==?=", "=?base64?e A=?=", "=?base64?_-==?=",
        "=?base64?!!!!?=",
        "=?base64?/w==?=", "=?base64?7aCA?=", "caf\u{e9}", "a\u{1}b",
    ])
    func malformedValuesAreRefused(value: String) {
        #expect(MCPHeaderValue.decode(ByteSlice(value)) == nil)
    }
}
