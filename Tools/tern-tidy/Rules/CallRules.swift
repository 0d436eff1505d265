/// Calls that code here does not make.
enum CallRules {
  private struct Ban {
    let text: String
    let tokens: [String]
    let reason: String

    init(_ text: String, _ reason: String) {
      self.text = text
      self.reason = reason
      tokens = Token.scan([text]).map(\.text)
    }
  }

  private static let clock = "take the time from a RuntimeEnvironment"
  private static let randomness = "pass a generator from a RuntimeEnvironment"

  /// In modules, time, randomness and ids come from outside, and nothing writes to a terminal.
  private static let inModules = [
    Ban("Date()", clock), Ban("Date.now", clock), Ban("Date(timeIntervalSinceNow", clock),
    Ban("ContinuousClock.now", clock), Ban("ContinuousClock().now", clock),
    Ban("SuspendingClock.now", clock), Ban("SuspendingClock().now", clock),
    Ban("DispatchTime.now", clock), Ban("DispatchWallTime.now", clock),
    Ban("clock_gettime(", clock), Ban("gettimeofday(", clock), Ban("time(nil)", clock),
    Ban("CFAbsoluteTimeGetCurrent(", clock), Ban(".systemUptime", clock),
    Ban("Task.sleep", clock), Ban("Thread.sleep", clock), Ban("usleep(", clock),
    Ban("nanosleep(", clock), Ban("Timer.scheduledTimer", clock), Ban(".asyncAfter(", clock),
    Ban("UUID()", "take ids from a RuntimeEnvironment"),
    Ban("SystemRandomNumberGenerator", randomness), Ban(".shuffled()", randomness),
    Ban(".shuffle()", randomness), Ban(".randomElement()", randomness),
    Ban("arc4random", randomness),
    Ban("arc4random_uniform", randomness), Ban("getrandom(", randomness),
    Ban("drand48(", randomness),
    Ban("DispatchQueue.global", "use a queue that the caller names"),
    Ban("print(", "report a notice to the caller"),
    Ban("debugPrint(", "report a notice to the caller"),
    Ban("NSLog(", "report a notice to the caller"),
    Ban("fatalError(", "throw, or state the broken rule in a precondition"),
  ]

  /// Paths that implement the sources of time, randomness and ids, or wait in tests.
  private static let sources = ["Modules/Sync/RuntimeEnvironment.swift", "Modules/TestKit/"]

  /// In modules and programs nothing traps by surprise.
  private static let inPrograms = [
    Ban("try!", "handle the error"), Ban("as!", "handle the other type"),
  ]

  /// In tests, an event is waited for, not guessed at.
  private static let inTests = ["sleep(", "usleep(", "nanosleep(", "Task.sleep"].map {
    Ban($0, "wait for the event, with a deadline")
  }

  /// Declarations of the standard library and the system that are newer than iOS 18 and macOS 15.
  private static let tooNew = [
    "InlineArray", "Observations", "UTF8Span", ".utf8Span", ".utf8.span", "Task.immediate",
    "Task.immediateDetached", ".addImmediateTask", "ExecutorFactory", ".isTriviallyIdentical",
    ".isIsolatingCurrentContext", "RunLoopExecutor", "MainExecutor",
  ].map { Ban($0, "newer than the platforms of Package.swift") }

  private static let leftovers = ["TODO", "FIXME", "XXX"]

  static func check(_ file: SourceFile) -> [Finding] {
    var findings: [Finding] = []
    let isProgram = ["Modules", "Apps", "Tools"].contains(file.area)
    let bans =
      (file.area == "Modules" && !sources.contains(where: file.path.hasPrefix) ? inModules : [])
      + (isProgram ? inPrograms : []) + (file.area == "Tests" ? inTests : [])
    findings += occurrences(of: bans, in: file, rule: "banned-call")
    if file.area == "Modules" {
      findings += occurrences(of: tooNew, in: file, rule: "platform")
      findings += randomDraws(in: file) + sizedArrays(in: file)
    }
    for index in file.lines.indices {
      guard let comment = file.comment(on: index) else { continue }
      for word in leftovers
      where comment.split(whereSeparator: { !$0.isLetter }).contains(word[...]) {
        let message = "\(word) — finish it, or write an issue"
        findings.append(finding(file, index, "banned-call", message))
      }
    }
    return findings
  }

  private static func occurrences(
    of bans: [Ban], in file: SourceFile, rule: String
  ) -> [Finding] {
    var byFirst: [String: [Ban]] = [:]
    for ban in bans { byFirst[ban.tokens[0], default: []].append(ban) }
    var findings: [Finding] = []
    for (index, token) in file.tokens.enumerated() {
      guard let candidates = byFirst[token.text] else { continue }
      for ban in candidates
      where matches(file.tokens[index...], ban.tokens) && isCall(file.tokens, index) {
        findings.append(finding(file, token.line, rule, "\(ban.text) — \(ban.reason)"))
      }
    }
    return findings
  }

  /// Tells whether `tokens` begin with `wanted`, without spaces between: `try !a` is no `try!`.
  private static func matches(_ tokens: ArraySlice<Token>, _ wanted: [String]) -> Bool {
    guard tokens.count >= wanted.count else { return false }
    return zip(tokens, wanted).allSatisfy { $0.text == $1 }
      && tokens.dropFirst().prefix(wanted.count - 1).allSatisfy { !$0.isSpaced }
  }

  /// Modules whose names may stand before what they declare.
  private static let qualifiers: Set = [
    "Swift", "Foundation", "Dispatch", "Glibc", "Musl", "Darwin", "Android", "_Concurrency",
  ]

  /// Tells whether the word at `index` is neither declared here nor a member of something else.
  private static func isCall(_ tokens: [Token], _ index: Int) -> Bool {
    guard index > 0, tokens[index].isWord else { return true }
    switch tokens[index - 1].text {
    case "func", "case", "struct", "class", "enum", "let", "var": return false
    case ".": return index > 1 && qualifiers.contains(tokens[index - 2].text)
    default: return true
    }
  }

  /// Calls of `.random(` whose arguments name no generator.
  private static func randomDraws(in file: SourceFile) -> [Finding] {
    calls(of: "random", in: file).filter { !$0.arguments.contains { $0.text == "using" } }
      .map { finding(file, $0.line, "banned-call", ".random( — pass the generator with using:") }
  }

  private static func calls(
    of name: String, in file: SourceFile
  ) -> [(line: Int, arguments: ArraySlice<Token>)] {
    let tokens = file.tokens
    return tokens.indices.compactMap { index in
      guard tokens[index].text == name, index > 0, tokens[index - 1].text == ".",
        index + 1 < tokens.count, tokens[index + 1].text == "("
      else { return nil }
      var (level, end) = (0, index + 1)
      while end < tokens.count {
        if tokens[end].text == "(" { level += 1 }
        if tokens[end].text == ")" { level -= 1 }
        if level == 0 { break }
        end += 1
      }
      return (tokens[index].line, tokens[(index + 2)..<min(end, tokens.count)])
    }
  }

  /// `[4 of Int]`, the short form of `InlineArray`.
  private static func sizedArrays(in file: SourceFile) -> [Finding] {
    file.tokens.indices.dropFirst(2).compactMap { index in
      guard file.tokens[index].text == "of", file.tokens[index - 2].text == "[",
        file.tokens[index - 1].isWord, file.tokens[index].isSpaced
      else { return nil }
      return finding(
        file, file.tokens[index].line, "platform",
        "[n of T] — newer than the platforms of Package.swift")
    }
  }

  private static func finding(
    _ file: SourceFile, _ line: Int, _ rule: String, _ message: String
  ) -> Finding {
    Finding(file: file.path, line: line + 1, rule: rule, message: message)
  }
}
