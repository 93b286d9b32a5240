import Testing

/// Everything that needs a browser: one after the other, since all share its window.
@Suite(
    .serialized, .enabled(if: Driver.isWanted, "no chromedriver and Chromium on the PATH"),
    .timeLimit(.minutes(5)))
struct E2E {}
