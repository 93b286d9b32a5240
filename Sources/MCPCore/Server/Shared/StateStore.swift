/// A store that the instances of one server share: what one instance writes, the others read.
///
/// Set it in `ServerOptions.stateStore`, together with `ServerOptions.stateKey`. Sessions that have ended and
/// rounds of questions that have been answered then count on every instance, and clients of older revisions
/// resume event streams on any of them. `RedisStore` is one; a program can bring another.
///
/// Each method returns or throws within a few seconds, also while the store cannot be reached: calls of
/// clients wait for it. Any error means that nothing is known. Values are at most 64 KiB, tasks and event
/// streams; all others a few hundred bytes.
public protocol StateStore: Sendable {
    /// Returns the value of a key, or nil if it has none or its lifetime is over.
    func value(for key: String) async throws -> [UInt8]?

    /// Stores a value, in place of the one that the key has.
    func set(_ value: [UInt8], for key: String, lifetime: Duration) async throws

    /// Stores a value unless the key has one. Returns whether it was stored. Of several callers at the same
    /// time, on whatever instances, only one receives true.
    func insert(_ value: [UInt8], for key: String, lifetime: Duration) async throws -> Bool

    /// Removes the value of a key, if it has one.
    func removeValue(for key: String) async throws
}
