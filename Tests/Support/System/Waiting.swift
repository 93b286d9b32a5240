import MCPCore
package import Testing

/// Between two looks at something that happens elsewhere: whoever makes it happen gets the processor.
package func pause() async { try? await Task.sleep(for: .milliseconds(1)) }

/// Looks again and again, for 30 seconds at most.
package func comesTrue(within seconds: Int = 30, _ fits: () -> Bool) async -> Bool {
    let clock = SystemClock()
    let limit = clock.now + .seconds(seconds)
    while clock.now < limit {
        if fits() { return true }
        await pause()
    }
    return fits()
}

/// Waits until something has happened elsewhere, for 30 seconds at most; it fails the test if it has not.
package func waitUntil(
    _ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
) async {
    let didHappen = await comesTrue(condition)
    #expect(didHappen, "waited for something that did not happen", sourceLocation: sourceLocation)
}
