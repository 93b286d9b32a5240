#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Whether `count` bytes at `a` and `b` are the same.
@inline(__always)
func memoryEquals(_ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    unsafe memcmp(a, b, count) == 0
}

/// The offset of `byte` in the `count` bytes at `start`, or nil.
@inline(__always)
func firstOffset(of byte: UInt8, in start: UnsafePointer<UInt8>, count: Int) -> Int? {
    guard count > 0, let hit = unsafe memchr(start, Int32(byte), count) else { return nil }
    return unsafe UnsafeRawPointer(hit) - UnsafeRawPointer(start)
}
