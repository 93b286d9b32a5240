// Apple's Dispatch as Swift sees it, as far as this package uses it. Declarations for type-checking; the
// bodies are never run. Nothing here is more permissive about concurrency than Apple's module.
#if canImport(Darwin)
public import Darwin
#else
public import Musl
#endif

private func absent() -> Never { fatalError("a declaration for type-checking") }

open class DispatchObject: @unchecked Sendable {
    init() {}
    public func setTarget(queue: DispatchQueue?) { absent() }
    public func activate() { absent() }
    public func suspend() { absent() }
    public func resume() { absent() }
}

public struct DispatchQoS: Equatable, Sendable {
    public enum QoSClass: Sendable {
        case background, utility, `default`, userInitiated, userInteractive, unspecified
    }
    public let qosClass: QoSClass
    public let relativePriority: Int
    public init(qosClass: QoSClass, relativePriority: Int) { absent() }
    public static var background: DispatchQoS { absent() }
    public static var utility: DispatchQoS { absent() }
    public static var `default`: DispatchQoS { absent() }
    public static var userInitiated: DispatchQoS { absent() }
    public static var userInteractive: DispatchQoS { absent() }
    public static var unspecified: DispatchQoS { absent() }
}

public enum DispatchTimeInterval: Equatable, Sendable {
    case seconds(Int), milliseconds(Int), microseconds(Int), nanoseconds(Int)
    case never
}

public enum DispatchTimeoutResult: Sendable {
    case success, timedOut
}

public struct DispatchTime: Comparable, Sendable {
    public let rawValue: UInt64
    public static func now() -> DispatchTime { absent() }
    public static let distantFuture = DispatchTime(uptimeNanoseconds: .max)
    public init(uptimeNanoseconds: UInt64) { absent() }
    public var uptimeNanoseconds: UInt64 { absent() }
    public static func < (a: DispatchTime, b: DispatchTime) -> Bool { absent() }
    public func distance(to other: DispatchTime) -> DispatchTimeInterval { absent() }
}

public struct DispatchWallTime: Comparable, Sendable {
    public let rawValue: UInt64
    public static func now() -> DispatchWallTime { absent() }
    public static func < (a: DispatchWallTime, b: DispatchWallTime) -> Bool { absent() }
}

public func + (time: DispatchTime, interval: DispatchTimeInterval) -> DispatchTime { absent() }
public func - (time: DispatchTime, interval: DispatchTimeInterval) -> DispatchTime { absent() }
public func + (time: DispatchTime, seconds: Double) -> DispatchTime { absent() }
public func - (time: DispatchTime, seconds: Double) -> DispatchTime { absent() }
public func + (time: DispatchWallTime, interval: DispatchTimeInterval) -> DispatchWallTime { absent() }
public func + (time: DispatchWallTime, seconds: Double) -> DispatchWallTime { absent() }

public struct DispatchWorkItemFlags: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let barrier = DispatchWorkItemFlags(rawValue: 1)
    public static let detached = DispatchWorkItemFlags(rawValue: 2)
}

public class DispatchWorkItem {
    public init(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        block: @escaping @convention(block) () -> Void
    ) { absent() }
    public func perform() { absent() }
    public func wait() { absent() }
    public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { absent() }
    public func notify(queue: DispatchQueue, execute: DispatchWorkItem) { absent() }
    public func cancel() { absent() }
    public var isCancelled: Bool { absent() }
}

public final class DispatchGroup: DispatchObject, @unchecked Sendable {
    public override init() { absent() }
    public func notify(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], queue: DispatchQueue,
        execute work: @escaping @Sendable @convention(block) () -> Void
    ) { absent() }
    public func wait() { absent() }
    public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { absent() }
    public func enter() { absent() }
    public func leave() { absent() }
}

public final class DispatchSemaphore: DispatchObject, @unchecked Sendable {
    public init(value: Int) { absent() }
    @available(*, noasync) public func wait() { absent() }
    @available(*, noasync) public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { absent() }
    @discardableResult public func signal() -> Int { absent() }
}

public final class DispatchQueue: DispatchObject, @unchecked Sendable {
    public struct Attributes: OptionSet, Sendable {
        public let rawValue: UInt64
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        public static let concurrent = Attributes(rawValue: 2)
        public static let initiallyInactive = Attributes(rawValue: 4)
    }
    public enum AutoreleaseFrequency: Sendable {
        case inherit, workItem, never
    }

    public convenience init(
        label: String, qos: DispatchQoS = .unspecified, attributes: Attributes = [],
        autoreleaseFrequency: AutoreleaseFrequency = .inherit, target: DispatchQueue? = nil
    ) { absent() }

    public class var main: DispatchQueue { absent() }
    public class func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue { absent() }
    public class func concurrentPerform(iterations: Int, execute work: (Int) -> Void) { absent() }

    public var label: String { absent() }
    public func sync<T>(execute work: () throws -> T) rethrows -> T { absent() }
    public func sync(execute workItem: DispatchWorkItem) { absent() }
    public func async(execute workItem: DispatchWorkItem) { absent() }
    public func async(
        group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        execute work: @escaping @Sendable @convention(block) () -> Void
    ) { absent() }
    public func asyncAfter(deadline: DispatchTime, execute: DispatchWorkItem) { absent() }
    public func asyncAfter(
        deadline: DispatchTime, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        execute work: @escaping @Sendable @convention(block) () -> Void
    ) { absent() }
}

// MARK: Sources

public protocol DispatchSourceProtocol: AnyObject {
    typealias DispatchSourceHandler = @convention(block) () -> Void
    func setEventHandler(
        qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: DispatchSourceHandler?)
    func setCancelHandler(
        qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: DispatchSourceHandler?)
    func setRegistrationHandler(
        qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: DispatchSourceHandler?)
    func cancel()
    func resume()
    func suspend()
    var handle: UInt { get }
    var mask: UInt { get }
    var data: UInt { get }
    var isCancelled: Bool { get }
}

extension DispatchSourceProtocol {
    public func setEventHandler(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], handler: DispatchSourceHandler?
    ) { absent() }
    public func setCancelHandler(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], handler: DispatchSourceHandler?
    ) { absent() }
    public func setRegistrationHandler(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], handler: DispatchSourceHandler?
    ) { absent() }
    public func activate() { absent() }
    public func cancel() { absent() }
    public func resume() { absent() }
    public func suspend() { absent() }
    public var handle: UInt { absent() }
    public var mask: UInt { absent() }
    public var data: UInt { absent() }
    public var isCancelled: Bool { absent() }
}

public protocol DispatchSourceRead: DispatchSourceProtocol {}
public protocol DispatchSourceWrite: DispatchSourceProtocol {}
public protocol DispatchSourceSignal: DispatchSourceProtocol {}
public protocol DispatchSourceTimer: DispatchSourceProtocol {}
public protocol DispatchSourceProcess: DispatchSourceProtocol {
    var handle: pid_t { get }
    var data: DispatchSource.ProcessEvent { get }
    var mask: DispatchSource.ProcessEvent { get }
}
public protocol DispatchSourceFileSystemObject: DispatchSourceProtocol {
    var handle: Int32 { get }
    var data: DispatchSource.FileSystemEvent { get }
    var mask: DispatchSource.FileSystemEvent { get }
}

extension DispatchSourceTimer {
    public func schedule(
        deadline: DispatchTime, repeating interval: DispatchTimeInterval = .never,
        leeway: DispatchTimeInterval = .nanoseconds(0)
    ) { absent() }
    public func schedule(
        deadline: DispatchTime, repeating interval: Double, leeway: DispatchTimeInterval = .nanoseconds(0)
    ) { absent() }
}

public class DispatchSource: DispatchObject, @unchecked Sendable {
    public struct ProcessEvent: OptionSet, RawRepresentable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let exit = ProcessEvent(rawValue: 0x8000_0000)
        public static let fork = ProcessEvent(rawValue: 0x4000_0000)
        public static let exec = ProcessEvent(rawValue: 0x2000_0000)
        public static let signal = ProcessEvent(rawValue: 0x0800_0000)
        public static let all: ProcessEvent = [.exit, .fork, .exec, .signal]
    }
    public struct FileSystemEvent: OptionSet, RawRepresentable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let delete = FileSystemEvent(rawValue: 1)
        public static let write = FileSystemEvent(rawValue: 2)
        public static let extend = FileSystemEvent(rawValue: 4)
        public static let attrib = FileSystemEvent(rawValue: 8)
        public static let link = FileSystemEvent(rawValue: 16)
        public static let rename = FileSystemEvent(rawValue: 32)
        public static let revoke = FileSystemEvent(rawValue: 64)
        public static let funlock = FileSystemEvent(rawValue: 256)
    }
    public struct TimerFlags: OptionSet, RawRepresentable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let strict = TimerFlags(rawValue: 1)
    }

    public class func makeReadSource(fileDescriptor: Int32, queue: DispatchQueue? = nil)
        -> any DispatchSourceRead
    { absent() }
    public class func makeWriteSource(fileDescriptor: Int32, queue: DispatchQueue? = nil)
        -> any DispatchSourceWrite
    { absent() }
    public class func makeSignalSource(signal: Int32, queue: DispatchQueue? = nil)
        -> any DispatchSourceSignal
    { absent() }
    public class func makeTimerSource(flags: TimerFlags = [], queue: DispatchQueue? = nil)
        -> any DispatchSourceTimer
    { absent() }
    public class func makeProcessSource(
        identifier: pid_t, eventMask: ProcessEvent, queue: DispatchQueue? = nil
    ) -> any DispatchSourceProcess { absent() }
    public class func makeFileSystemObjectSource(
        fileDescriptor: Int32, eventMask: FileSystemEvent, queue: DispatchQueue? = nil
    ) -> any DispatchSourceFileSystemObject { absent() }
}

public func dispatchMain() -> Never { absent() }
