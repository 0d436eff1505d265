import Foundation

/// All Swift files of the project, but for those a program wrote.
struct Repository {
  static let areas = ["Modules", "Apps", "Tools", "Tests"]

  let root: String
  let files: [SourceFile]

  init(root: String) throws {
    self.root = root
    var paths = ["Package.swift"]
    for area in Self.areas {
      let folder = URL(fileURLWithPath: root).appending(path: area)
      guard let walk = FileManager.default.enumerator(atPath: folder.path()) else { continue }
      for case let path as String in walk where path.hasSuffix(".swift") {
        if path.contains("/Generated/") { continue }
        paths.append(area + "/" + path)
      }
    }
    files = try paths.sorted().map { path in
      let url = URL(fileURLWithPath: root).appending(path: path)
      return SourceFile(path: path, text: try String(contentsOf: url, encoding: .utf8))
    }
  }

  /// Every finding of the rules that only read.
  func findings(_ manifest: Manifest) -> [Finding] {
    let imports = ImportRules(manifest: manifest)
    let documentation = DocumentationRules(files)
    let inFiles = files.flatMap { file in
      imports.check(file) + LengthRules.check(file) + CallRules.check(file)
        + documentation.check(file)
    }
    return (imports.checkManifest() + inFiles).sorted()
  }

  /// What the formatter would change.
  func formatFindings() throws -> [Finding] {
    let areas = Self.areas.filter {
      FileManager.default.fileExists(atPath: root + "/" + $0)
    }
    let result = try Command.run(
      ["swift", "format", "lint", "--strict", "--recursive", "--parallel", "Package.swift"]
        + areas, in: root)
    let findings = result.errors.split(separator: "\n").compactMap { line -> Finding? in
      let parts = line.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
      guard parts.count == 4, let number = Int(parts[1]) else { return nil }
      let file = parts[0].hasPrefix(root + "/") ? parts[0].dropFirst(root.count + 1) : parts[0]
      return Finding(
        file: String(file), line: number, rule: "format",
        message: parts[3].trimmingCharacters(in: .whitespaces))
    }
    if result.status != 0, findings.isEmpty {
      return [Finding(file: "swift format", line: 0, rule: "format", message: result.errors)]
    }
    return findings.sorted()
  }
}
