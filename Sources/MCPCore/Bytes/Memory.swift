#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Whether the `count` bytes at `a` and at `b` are equal.
@inline(__always)
func memoryEquals(_ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    unsafe memcmp(a, b, count) == 0
}

/// Returns the offset of the first `byte` among the `count` bytes at `start`, or nil.
@inline(__always)
func firstOffset(of byte: UInt8, in start: UnsafePointer<UInt8>, count: Int) -> Int? {
    guard count > 0, let hit = unsafe memchr(start, Int32(byte), count) else { return nil }
    return unsafe UnsafeRawPointer(hit) - UnsafeRawPointer(start)
}
