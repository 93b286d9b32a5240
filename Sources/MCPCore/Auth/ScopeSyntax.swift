/// The syntax of scopes (RFC 6749, section 3.3).
package enum ScopeSyntax {
    /// Whether a text is one scope.
    package static func isScope(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 256
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
    }
}
