#if os(Linux)
import CMCPSystem
#endif

/// Properties of a terminal.
package enum Terminal {
    /// The number of columns of the terminal at a descriptor; nil if it is none, or does not tell.
    package static func columns(of fd: Int32) -> Int? {
        #if os(Linux)
        let columns = mcp_terminal_columns(fd)
        return columns > 0 ? Int(columns) : nil
        #else
        return nil
        #endif
    }
}
