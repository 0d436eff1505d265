import Foundation

/// The findings of swift-format, asked only about files that it has not passed before.
struct Formatter {
  let repository: Repository

  /// Remembers the contents that passed, beside the build of this program.
  private var memory: URL {
    URL(fileURLWithPath: repository.root).appending(path: ".build/tidy/formatted")
  }

  func findings() throws -> [Finding] {
    let settings = try String(
      contentsOf: URL(fileURLWithPath: repository.root).appending(path: ".swift-format"),
      encoding: .utf8)
    let passed = Set(
      ((try? String(contentsOf: memory, encoding: .utf8)) ?? "").split(separator: "\n")
        .map(String.init))
    let prints = repository.files.map { Self.fingerprint(settings, $0) }
    let open = zip(repository.files, prints).filter { !passed.contains($0.1) }.map { $0.0.path }
    let findings = open.isEmpty ? [] : try lint(open)
    let broken = Set(findings.map(\.file))
    let clean = zip(repository.files, prints).filter { !broken.contains($0.0.path) }.map(\.1)
    if !broken.contains(Self.name) {
      try? clean.joined(separator: "\n").write(to: memory, atomically: true, encoding: .utf8)
    }
    return findings
  }

  private static let name = "swift format"

  private func lint(_ paths: [String]) throws -> [Finding] {
    let root = repository.root
    let result = try Command.run(
      ["swift", "format", "lint", "--strict", "--parallel"] + paths, in: root)
    let findings = result.errors.split(separator: "\n").compactMap { line -> Finding? in
      let parts = line.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
      guard parts.count == 4, let number = Int(parts[1]) else { return nil }
      let file = parts[0].hasPrefix(root + "/") ? parts[0].dropFirst(root.count + 1) : parts[0]
      return Finding(
        file: String(file), line: number, rule: "format",
        message: parts[3].trimmingCharacters(in: .whitespaces))
    }
    if result.status != 0, findings.isEmpty {
      return [Finding(file: Self.name, line: 0, rule: "format", message: result.errors)]
    }
    return findings.sorted()
  }

  /// FNV-1a over the settings, the path and the lines; equal in every run.
  private static func fingerprint(_ settings: String, _ file: SourceFile) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    func add(_ text: String) {
      for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
      hash = (hash ^ 10) &* 0x100_0000_01b3
    }
    add(settings)
    add(file.path)
    for line in file.lines { add(line) }
    return String(hash, radix: 16)
  }
}
