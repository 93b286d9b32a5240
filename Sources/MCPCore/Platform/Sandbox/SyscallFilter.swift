#if os(Linux)
import CMCPSystem

/// A program of the kernel's packet filter that decides about each system call (seccomp(2)).
struct SyscallFilter {
    /// Whether there is a filter for this processor.
    static var isAvailable: Bool { architecture != nil }

    /// The instructions, 8 bytes each.
    private(set) var code: [UInt64] = []

    #if arch(x86_64)
    private static let architecture: UInt32? = 0xC000_003E
    #elseif arch(arm64)
    private static let architecture: UInt32? = 0xC000_00B7
    #else
    private static let architecture: UInt32? = nil
    #endif

    /// The bit that marks the calls of x32, a second numbering of those of x86_64.
    private static let x32: UInt32 = 0x4000_0000
    private static let (allow, kill, fail): (UInt32, UInt32, UInt32) = (0x7FFF_0000, 0x8000_0000, 0x0005_0000)
    /// The positions in the kernel's description of a call: its number, the processor's, and the arguments.
    private static let (number, processor, arguments): (UInt32, UInt32, UInt32) = (0, 4, 16)
    /// The bits of a socket's type that are not flags.
    private static let typeBits: UInt32 = 0xF
    /// The bits of a request of ioctl that say what it is for.
    private static let familyBits: UInt32 = 0xFF00

    /// Creates the filter of a sandbox. A process that makes calls of another processor is killed.
    init(_ sandbox: Sandbox) {
        load(Self.processor)
        jumpIfEqual(Self.architecture ?? 0, then: 1, else: 0)
        end(Self.kill)
        load(Self.number)
        #if arch(x86_64)
        instruction(0x35, Self.x32, 0, 1)
        end(Self.kill)
        #endif
        var rules = SyscallRules.always
        let isReadOnly = sandbox.files?.write.isEmpty == true
        if isReadOnly { rules += SyscallRules.metadata }
        if let network = sandbox.network { rules += SyscallRules.network(network) }
        for rule in rules { add(rule) }
        if isReadOnly { addControls() }
        if let network = sandbox.network { addSockets(SyscallRules.sockets(network)) }
        end(Self.allow)
    }

    /// Imposes the filter on this thread and everything that it executes.
    func install() throws(SandboxFailure) {
        let status = unsafe code.withUnsafeBytes {
            unsafe mcp_seccomp_install($0.baseAddress, UInt16(code.count))
        }
        guard status == 0 else { throw SandboxFailure("the filter of system calls", IOError("seccomp")) }
    }

    /// Adds a rule. The call's number is loaded before and after it.
    private mutating func add(_ rule: SyscallRule) {
        guard let call = rule.number else { return }
        let error = Self.fail | UInt32(rule.error)
        let (argument, test): (Int, (code: UInt16, value: UInt32, yes: UInt8, no: UInt8))
        switch rule.condition {
        case .always:
            jumpIfEqual(call, then: 0, else: 1)
            return end(error)
        case .equals(let index, let value): (argument, test) = (index, (0x15, value, 0, 1))
        case .differs(let index, let value): (argument, test) = (index, (0x15, value, 1, 0))
        case .hasBits(let index, let value): (argument, test) = (index, (0x45, value, 0, 1))
        }
        jumpIfEqual(call, then: 0, else: 4)
        loadArgument(argument)
        instruction(test.code, test.value, test.yes, test.no)
        end(error)
        load(Self.number)
    }

    /// Refuses requests of ioctl other than those that change no file.
    private mutating func addControls() {
        guard let call = SyscallRules.control.number else { return }
        var block = SyscallFilter()
        block.loadArgument(1)
        for request in SyscallRules.queries {
            block.jumpIfEqual(request, then: 0, else: 1)
            block.end(Self.allow)
        }
        block.instruction(0x54, Self.familyBits)
        for family in SyscallRules.families {
            block.jumpIfEqual(family << 8, then: 0, else: 1)
            block.end(Self.allow)
        }
        block.end(Self.fail | UInt32(SyscallRules.control.error))
        jumpIfEqual(call, then: 0, else: UInt8(clamping: block.code.count))
        code += block.code
    }

    /// Refuses to make sockets other than those of these kinds.
    private mutating func addSockets(_ kinds: [SyscallRules.SocketKind]) {
        guard let call = SyscallRules.socket.number else { return }
        var block = SyscallFilter()
        for kind in kinds {
            block.loadArgument(0)
            guard let (type, number) = kind.typeAndProtocol else {
                block.jumpIfEqual(kind.family, then: 0, else: 1)
                block.end(Self.allow)
                continue
            }
            block.jumpIfEqual(kind.family, then: 0, else: 6)
            block.loadArgument(1)
            block.instruction(0x54, Self.typeBits)
            block.jumpIfEqual(type, then: 0, else: 3)
            block.loadArgument(2)
            block.jumpIfEqual(number, then: 0, else: 1)
            block.end(Self.allow)
        }
        block.end(Self.fail | UInt32(SyscallRules.socket.error))
        jumpIfEqual(call, then: 0, else: UInt8(clamping: block.code.count))
        code += block.code
    }

    private init() {}

    private mutating func load(_ offset: UInt32) { instruction(0x20, offset) }

    /// Loads the lower half of an argument: both processors are little-endian.
    private mutating func loadArgument(_ index: Int) { load(Self.arguments + 8 * UInt32(index)) }

    private mutating func jumpIfEqual(_ value: UInt32, then yes: UInt8, else no: UInt8) {
        instruction(0x15, value, yes, no)
    }

    private mutating func end(_ result: UInt32) { instruction(0x06, result) }

    /// Adds an instruction; jumps are numbers of instructions to skip.
    private mutating func instruction(_ code: UInt16, _ value: UInt32, _ yes: UInt8 = 0, _ no: UInt8 = 0) {
        self.code.append(UInt64(code) | UInt64(yes) << 16 | UInt64(no) << 24 | UInt64(value) << 32)
    }
}
#endif
