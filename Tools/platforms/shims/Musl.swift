// What Swift's overlay adds to the C module of musl, as far as a program that stays with POSIX needs it.
// Declarations for type-checking; the bodies are never run.
@_exported import Musl

private func absent() -> Never { fatalError("a declaration for type-checking") }

// MARK: errno, errors and null values that are macros in C

public var errno: Int32 {
    get { absent() }
    set { absent() }
}

public var MAP_FAILED: UnsafeMutableRawPointer! { absent() }

public typealias Semaphore = UnsafeMutablePointer<sem_t>
public var SEM_FAILED: Semaphore? { absent() }
public func sem_open(_ name: UnsafePointer<CChar>, _ oflag: Int32) -> Semaphore? { absent() }
public func sem_open(_ name: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t, _ value: CUnsignedInt)
    -> Semaphore?
{ absent() }

// MARK: Variadic functions

public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { absent() }
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 { absent() }
public func openat(_ fd: Int32, _ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { absent() }
public func openat(_ fd: Int32, _ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 {
    absent()
}

public func fcntl(_ fd: Int32, _ cmd: Int32) -> Int32 { absent() }
public func fcntl(_ fd: Int32, _ cmd: Int32, _ value: Int32) -> Int32 { absent() }
public func fcntl(_ fd: Int32, _ cmd: Int32, _ ptr: UnsafeMutableRawPointer) -> Int32 { absent() }

public func ioctl(_ fd: CInt, _ request: UInt, _ value: CInt) -> CInt { absent() }
public func ioctl(_ fd: CInt, _ request: UInt, _ ptr: UnsafeMutableRawPointer) -> CInt { absent() }
public func ioctl(_ fd: CInt, _ request: UInt) -> CInt { absent() }

// MARK: File modes

public var S_IFMT: mode_t { absent() }
public var S_IFIFO: mode_t { absent() }
public var S_IFCHR: mode_t { absent() }
public var S_IFDIR: mode_t { absent() }
public var S_IFBLK: mode_t { absent() }
public var S_IFREG: mode_t { absent() }
public var S_IFLNK: mode_t { absent() }
public var S_IFSOCK: mode_t { absent() }
public var S_IRWXU: mode_t { absent() }
public var S_IRUSR: mode_t { absent() }
public var S_IWUSR: mode_t { absent() }
public var S_IXUSR: mode_t { absent() }
public var S_IRWXG: mode_t { absent() }
public var S_IRGRP: mode_t { absent() }
public var S_IWGRP: mode_t { absent() }
public var S_IXGRP: mode_t { absent() }
public var S_IRWXO: mode_t { absent() }
public var S_IROTH: mode_t { absent() }
public var S_IWOTH: mode_t { absent() }
public var S_IXOTH: mode_t { absent() }
public var S_ISUID: mode_t { absent() }
public var S_ISGID: mode_t { absent() }
public var S_ISVTX: mode_t { absent() }

// MARK: Signals

public typealias sighandler_t = @convention(c) (Int32) -> Void

public var SIG_DFL: sighandler_t? { absent() }
public var SIG_IGN: sighandler_t { absent() }
public var SIG_ERR: sighandler_t { absent() }
public var SIG_HOLD: sighandler_t { absent() }
