/// What a descriptor is ready for, or is watched for.
struct Readiness: OptionSet, Sendable {
    let rawValue: UInt32

    /// Bytes, a connection or the end of the stream can be read.
    static let readable = Readiness(rawValue: 1)
    /// Bytes can be written.
    static let writable = Readiness(rawValue: 2)
    /// The other side is gone or the descriptor is broken; always reported, never asked for.
    static let hangup = Readiness(rawValue: 4)
    /// The other side has stopped writing. Ask for it to learn of a disconnect while reading is switched off.
    static let readClosed = Readiness(rawValue: 8)
}
