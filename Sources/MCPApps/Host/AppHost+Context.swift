import MCPCore

/// The user's surroundings, as reported to views (MCP Apps 2026-01-26, "Host context").
extension AppHost {
    func context(of tool: Tool, _ call: HostedCall) -> HostContext {
        var context = HostContext()
        context.toolInfo = HostContext.ToolInfo(id: .string(call.id.rawValue), tool: tool)
        context.styles = HostStyles.standard
        context.displayMode = .inline
        context.availableDisplayModes = [.inline, .fullscreen, .pip]
        context.userAgent = "\(options.info.name)/\(options.info.version)"
        apply(page, to: &context)
        return context
    }

    private func apply(_ page: HostEnvironment, to context: inout HostContext) {
        if let theme = page.theme { context.theme = theme }
        if let locale = page.locale { context.locale = locale }
        if let timeZone = page.timeZone { context.timeZone = timeZone }
        if let platform = page.platform { context.platform = platform }
        if page.touch != nil || page.hover != nil {
            context.deviceCapabilities = HostContext.Device(touch: page.touch, hover: page.hover)
        }
    }

    /// Accepts what a front end knows of the user's surroundings; the views are notified about the changes.
    public func changeContext(_ change: HostEnvironment) {
        page.theme = change.theme ?? page.theme
        page.locale = change.locale ?? page.locale
        page.timeZone = change.timeZone ?? page.timeZone
        page.platform = change.platform ?? page.platform
        page.touch = change.touch ?? page.touch
        page.hover = change.hover ?? page.hover
        for id in viewOrder { changeContext(id) { apply(page, to: &$0) } }
    }

    private func changeContext(_ id: HostedView.ID, _ body: (inout HostContext) -> Void) {
        guard var context = views[id]?.context else { return }
        body(&context)
        views[id]?.context = context
        update(id) { $0.contextChanged(context) }
    }

    /// Notifies a view about the space that it has.
    public func changeRoom(_ room: ViewBounds, of view: HostedView.ID) {
        changeContext(view) {
            $0.containerDimensions = HostContext.Dimensions(
                width: .fixed(room.width),
                height: room.height.map { .fixed($0) } ?? room.maxHeight.map { .flexible($0) })
        }
    }

    /// Shows a view in another mode, because the user requested it.
    ///
    /// Another view that was shown in that mode returns to its place, unless the mode is `inline`.
    /// After the user put a view back, its own requests for another mode are refused until 10 s have passed
    /// without one.
    /// - Returns: the mode that is now in effect: one that the view did not declare is not accepted.
    @discardableResult
    public func setMode(_ mode: DisplayMode, of view: HostedView.ID) -> DisplayMode? {
        if mode == .inline { views[view]?.modeRefusedUntil = now() + Self.quietTime }
        return change(mode, of: view)
    }

    /// The time without a request for a mode after which a view that the user put back may have one again.
    static let quietTime = Duration.seconds(10)
    /// The changes of its mode that a view may make within `quietTime`: 6. With one more it is put back.
    static let maxModeChanges = 6

    /// Shows a view in another mode, because the view requested it.
    func requestMode(_ mode: DisplayMode, of view: HostedView.ID) -> DisplayMode? {
        guard let record = views[view] else { return nil }
        if mode != .inline, let end = record.modeRefusedUntil, now() < end {
            hold(view)
            return record.view.mode
        }
        // One that changes again and again would keep the user from everything else.
        if mode != .inline, mode != record.view.mode {
            let recent = record.modeChanges.filter { $0 > now() - Self.quietTime }
            if recent.count >= Self.maxModeChanges {
                hold(view)
                return change(.inline, of: view)
            }
            views[view]?.modeChanges = recent + [now()]
        }
        return change(mode, of: view)
    }

    /// Refuses a mode, and lets the user see that.
    private func hold(_ view: HostedView.ID) {
        views[view]?.modeRefusedUntil = now() + Self.quietTime
        guard views[view]?.view.isHeld == false else { return }
        changeView(view) { $0.isHeld = true }
        views[view]?.holding?.cancel()
        views[view]?.holding = Task {
            while let end = views[view]?.modeRefusedUntil, now() < end {
                guard (try? await Task.pause(for: end - now())) != nil else { return }
            }
            if views[view]?.view.isHeld == true { changeView(view) { $0.isHeld = false } }
        }
    }

    private func change(_ mode: DisplayMode, of view: HostedView.ID) -> DisplayMode? {
        guard let record = views[view] else { return nil }
        let declared = record.machine.appCapabilities?.availableDisplayModes ?? []
        guard mode == .inline || declared.contains(mode), record.view.mode != mode else {
            return record.view.mode
        }
        // There is room for only one view in this mode.
        if mode != .inline {
            for other in viewOrder where other != view && views[other]?.view.mode == mode {
                _ = change(.inline, of: other)
            }
        }
        views[view]?.view.mode = mode
        emit(.viewMode(view: view, mode))
        if mode != .inline, record.view.isHeld { changeView(view) { $0.isHeld = false } }
        changeContext(view) { $0.displayMode = mode }
        return mode
    }
}
