/// Calls that code here does not make.
enum CallRules {
  private struct Ban {
    let text: String
    let reason: String
  }

  /// In modules, time, chance and ids come from outside, and nothing may trap by surprise.
  private static let inModules = [
    Ban(text: "Date()", reason: "take the time from an Ambient"),
    Ban(text: "Date.now", reason: "take the time from an Ambient"),
    Ban(text: "UUID()", reason: "take ids from an Ambient"),
    Ban(text: "Task.sleep", reason: "take the clock from an Ambient"),
    Ban(text: "try!", reason: "handle the error"),
    Ban(text: "as!", reason: "handle the other type"),
    Ban(text: "fatalError(", reason: "throw, or say the broken rule in a precondition"),
  ]

  /// In tests, an event is waited for, not guessed at.
  private static let inTests = ["sleep(", "usleep(", "nanosleep(", "Task.sleep"].map {
    Ban(text: $0, reason: "wait for the event, with a deadline")
  }

  private static let leftovers = ["TODO", "FIXME", "XXX"].map {
    Ban(text: $0, reason: "finish it, or write an issue")
  }

  static func check(_ file: SourceFile) -> [Finding] {
    var findings: [Finding] = []
    let bans = file.area == "Modules" ? inModules : file.area == "Tests" ? inTests : []
    for (index, line) in file.code.enumerated() {
      // A clock of one's own declares `sleep`; that is no call.
      for ban in bans
      where contains(line, ban.text) && !contains(line, "func " + ban.text) {
        findings.append(finding(file, index, ban))
      }
      if file.area == "Modules", drawsWithoutGenerator(file.code, index) {
        let ban = Ban(text: ".random(", reason: "pass the generator with using:")
        findings.append(finding(file, index, ban))
      }
    }
    for (index, line) in file.lines.enumerated() {
      // A leftover hides in a comment, which is what differs between the two.
      for ban in leftovers where contains(line, ban.text) && !contains(file.code[index], ban.text) {
        if line.contains("//") { findings.append(finding(file, index, ban)) }
      }
    }
    return findings
  }

  /// Whether `line` holds `text` as words of its own.
  private static func contains(_ line: String, _ text: String) -> Bool {
    guard let first = text.utf8.first, line.utf8.count >= text.utf8.count else { return false }
    let (bytes, wanted) = (Array(line.utf8), Array(text.utf8))
    for start in 0...(bytes.count - wanted.count) where bytes[start] == first {
      guard bytes[start..<start + wanted.count].elementsEqual(wanted) else { continue }
      let before = start == 0 ? UInt8(ascii: " ") : bytes[start - 1]
      let end = start + wanted.count
      let after = end == bytes.count ? UInt8(ascii: " ") : bytes[end]
      let endsOpen = !isWord(wanted[wanted.count - 1]) || !isWord(after)
      if !isWord(before), before != UInt8(ascii: "."), endsOpen { return true }
    }
    return false
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// A call of `.random(` whose arguments, on this line and the next two, name no generator.
  private static func drawsWithoutGenerator(_ code: [String], _ index: Int) -> Bool {
    guard code[index].contains(".random(") else { return false }
    return !code[index..<min(index + 3, code.count)].contains { $0.contains("using:") }
  }

  private static func finding(_ file: SourceFile, _ index: Int, _ ban: Ban) -> Finding {
    Finding(
      file: file.path, line: index + 1, rule: "banned-call",
      message: "\(ban.text) — \(ban.reason)")
  }
}
