import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

exit(ClientProgram.main(Array(ProgramArguments.all.dropFirst())))
