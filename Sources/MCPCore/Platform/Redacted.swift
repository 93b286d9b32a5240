/// A secret that does not appear in any log line, error text or debugger dump.
package struct Redacted<Value: Sendable>: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The secret itself; read it only where it is used.
    package let value: Value

    package init(_ value: Value) { self.value = value }

    package var description: String { "[redacted]" }
    package var debugDescription: String { "[redacted]" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension Redacted: Equatable where Value: Equatable {}
extension Redacted: Hashable where Value: Hashable {}
