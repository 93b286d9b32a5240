extension Tool {
    /// The maximum number of scopes that a tool may declare, and the maximum length of a name in bytes.
    private static let (maxScopes, maxScopeBytes) = (16, 64)

    /// The scopes that the tool says it needs (`_meta["mcpcore/scopes"]`): at most 16, of 64 bytes each.
    ///
    /// Anything that is not a name of letters, digits, `_`, `-` and `.` is left out.
    public var declaredScopes: Set<PermissionScope> {
        let values = meta?[VendorKey.scopes]?.arrayValue ?? []
        let names = values.prefix(Self.maxScopes).compactMap(\.stringValue).filter(Self.isScope)
        return Set(names.map { PermissionScope($0) })
    }

    /// The maximum duration of a call that the tool asks for (`_meta["mcpcore/timeoutMs"]`), at most 10 min;
    /// nil if it asks for none.
    public var declaredTimeout: Duration? {
        guard let milliseconds = meta?[VendorKey.timeout]?.intValue, milliseconds > 0 else { return nil }
        return min(.milliseconds(milliseconds), ClientToolLimits.longestCall)
    }

    private static func isScope(_ name: String) -> Bool {
        (1 ... maxScopeBytes).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30 ... 0x39, 0x41 ... 0x5A, 0x61 ... 0x7A, 0x5F, 0x2D, 0x2E: true
                default: false
                }
            }
    }
}
