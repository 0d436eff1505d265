import Synchronization
import TernCore
import TernQuery
import TernSecurity
import Testing

/// The entries of a log about denials. The clock is the test's.
@Suite("Denials in the log")
struct DenialLogTests {
  /// An authorizer that denies everything, and what its log was told.
  private final class Desk: Sendable {
    let denied = Mutex<[String]>([])
    let omitted = Mutex<[OmittedDenials]>([])

    func authorizer(
      _ rules: String = #"{"rules": {}}"#, samples: Bool = true, showingValues: Bool = false
    ) throws -> RulesAuthorizer {
      let onOmitted: @Sendable (OmittedDenials) -> Void = { [self] summary in
        omitted.withLock { $0.append(summary) }
      }
      return RulesAuthorizer(
        try TreeRules(rules),
        onDenial: { [self] explanation in
          let text = explanation.text(showingValues: showingValues)
          denied.withLock { $0.append(text) }
        }, onOmitted: samples ? onOmitted : nil)
    }
  }

  private func ask(
    _ authorizer: RulesAuthorizer, _ address: String, at now: Int64, path: TreePath = "a",
    in tree: TreeNode = .empty
  ) {
    let requester = Requester(.anonymous, isLocal: false, namespace: "n", address: address)
    let isAllowed = authorizer.mayRead(path, .all, by: requester, now: now) { tree.node(at: $0) }
    #expect(!isAllowed)
  }

  @Test("repeated denials of a client are logged in a burst, then counted")
  func flood() throws {
    let desk = Desk()
    let authorizer = try desk.authorizer()
    let start: Int64 = 1_000_000
    for number in 0..<20_000 { ask(authorizer, "10.0.0.1", at: start + Int64(number) / 10) }
    #expect(desk.denied.withLock { $0.count } == RulesLimits.denialBurst)
    #expect(desk.omitted.withLock { $0 } == [])
    // Others are told all the same.
    ask(authorizer, "10.0.0.2", at: start + 2_500)
    #expect(desk.denied.withLock { $0.count } == RulesLimits.denialBurst + 1)
    ask(authorizer, "10.0.0.1", at: start + RulesLimits.denialMilliseconds + 1)
    let count = 20_000 - RulesLimits.denialBurst
    let summaries = desk.omitted.withLock { $0 }
    #expect(summaries.map(\.count) == [count] && summaries.map(\.address) == ["10.0.0.1"])
    #expect(summaries.first?.description == "19980 more denials of 10.0.0.1")
  }

  @Test("the count of an address that is quiet by then is logged with another's denial")
  func quiet() throws {
    let desk = Desk()
    let authorizer = try desk.authorizer()
    for _ in 0..<30 { ask(authorizer, "10.0.0.1", at: 5_000) }
    ask(authorizer, "10.0.0.2", at: 5_000 + 3 * RulesLimits.denialMilliseconds)
    #expect(desk.omitted.withLock { $0 }.map(\.count) == [30 - RulesLimits.denialBurst])
  }

  @Test("many addresses share what all may write in a second, and a bucket beyond the table")
  func manyAddresses() throws {
    let desk = Desk()
    let authorizer = try desk.authorizer()
    for number in 0..<50_000 { ask(authorizer, "10.0.\(number / 256).\(number % 256)", at: 9_000) }
    #expect(desk.denied.withLock { $0.count } == RulesLimits.denialsPerSecond)
    // All are counted once, the allowed ones and those beyond the table too.
    for second in 1...40 {
      ask(authorizer, "10.9.9.9", at: 9_000 + Int64(second) * 10 * RulesLimits.denialMilliseconds)
    }
    let summaries = desk.omitted.withLock { $0 }
    let told = summaries.reduce(0) { $0 + $1.count }
    #expect(told == 50_000 - RulesLimits.denialsPerSecond)
    #expect(summaries.count <= 2 * RulesLimits.denialSummaries, "\(summaries.count)")
  }

  @Test("a clock that goes back silences no client for good")
  func clockGoesBack() throws {
    let desk = Desk()
    let authorizer = try desk.authorizer()
    for _ in 0..<100 { ask(authorizer, "10.0.0.1", at: 1_000_000_000) }
    ask(authorizer, "10.0.0.1", at: 5_000)
    ask(authorizer, "10.0.0.1", at: 5_000 + RulesLimits.denialMilliseconds)
    #expect(desk.denied.withLock { $0.count } == RulesLimits.denialBurst + 1)
  }

  @Test("without a listener for counts every denial is logged")
  func unsampled() throws {
    let desk = Desk()
    let authorizer = try desk.authorizer(samples: false)
    for _ in 0..<500 { ask(authorizer, "10.0.0.1", at: 7_000) }
    #expect(desk.denied.withLock { $0.count } == 500)
  }

  @Test("a log shows what rules made of data, and neither data nor claims")
  func values() throws {
    let rules = #"""
      {"rules": {"$k": {".read": "root.child('pin').val() === $k && root.child('n').val() + 1 > 9 || root.child('flag').val() == !root.child('pin').isString()"}}}
      """#
    let tree: TreeNode = ["pin": "hunter2", "n": 1_234, "flag": true]
    let (log, shell) = (Desk(), Desk())
    ask(try log.authorizer(rules), "a", at: 1, path: "1111", in: tree)
    ask(try shell.authorizer(rules, showingValues: true), "a", at: 1, path: "1111", in: tree)
    let (safe, full) = (
      try #require(log.denied.withLock { $0.first }),
      try #require(shell.denied.withLock { $0.first })
    )
    #expect(full.contains(#"root.child('pin').val() is "hunter2""#), "\(full)")
    #expect(!safe.contains("hunter2") && !safe.contains("1234"), "\(safe)")
    for line in [
      "root.child('pin').val() is a string", #"$k is "1111""#,
      "root.child('pin').val() === $k is false", "root.child('flag').val() is a boolean",
      "!root.child('pin').isString() is false",
    ] {
      #expect(safe.contains(line), "\(line) is missing in\n\(safe)")
    }
  }

  @Test("paths are cut, and characters in them that end lines or act are written out")
  func paths() throws {
    let desk = Desk()
    let authorizer = try desk.authorizer()
    let long = String(repeating: "x", count: 700)
    ask(authorizer, "a", at: 1, path: try TreePath(long))
    ask(authorizer, "a", at: 1, path: try TreePath("a\u{85}b\u{2028}c\u{202E}d"))
    let lines = desk.denied.withLock { $0 }.map { $0.split(separator: "\n").first ?? "" }
    #expect(lines[0].contains("/" + String(repeating: "x", count: 200) + "…:"))
    #expect(lines[1].contains(#"/a\u{85}b\u{2028}c\u{202e}d:"#), "\(lines[1])")
  }
}
