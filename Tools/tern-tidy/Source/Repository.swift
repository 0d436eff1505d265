import Foundation

/// All Swift files of the project that are written by hand, and the pages of its documentation.
struct Repository: Sendable {
  static let areas = ["Modules", "Apps", "Tools", "Tests"]

  let root: String
  let files: [SourceFile]
  /// Markdown: path and text.
  let pages: [(path: String, text: String)]

  init(root: String) async throws {
    self.root = root
    var (sources, pages) = (["Package.swift"], [String]())
    for area in Self.areas + ["Docs"] {
      let folder = URL(fileURLWithPath: root).appending(path: area)
      guard let walk = FileManager.default.enumerator(atPath: folder.path()) else { continue }
      for case let path as String in walk {
        if path.hasSuffix(".swift"), area != "Docs", !path.contains("/Generated/") {
          sources.append(area + "/" + path)
        }
        if path.hasSuffix(".md") { pages.append(area + "/" + path) }
      }
    }
    let tops = try FileManager.default.contentsOfDirectory(atPath: root)
    pages += tops.filter { $0.hasSuffix(".md") }
    self.pages = try pages.sorted().map { ($0, try Self.text(root, $0)) }
    files = try await Self.read(sources.sorted(), root)
  }

  private static func text(_ root: String, _ path: String) throws -> String {
    try String(contentsOf: URL(fileURLWithPath: root).appending(path: path), encoding: .utf8)
  }

  private static func read(_ paths: [String], _ root: String) async throws -> [SourceFile] {
    try await withThrowingTaskGroup(of: [SourceFile].self) { group in
      let share = 40
      for start in stride(from: 0, to: paths.count, by: share) {
        let part = paths[start..<min(start + share, paths.count)]
        group.addTask {
          try part.map { SourceFile(path: $0, text: try text(root, $0)) }
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }.sorted { $0.path < $1.path }
    }
  }

  /// Every finding of the rules that only read, known ones too.
  func findings(_ manifest: Manifest) async -> [Finding] {
    let imports = ImportRules(manifest: manifest)
    let documentation = DocumentationRules(files)
    let modules = files.filter { $0.area == "Modules" }
    var findings =
      imports.checkManifest() + imports.checkUse(of: files) + imports.checkProducts(files)
      + LengthRules.checkTypes(modules) + pageFindings(manifest)
    await withTaskGroup(of: [Finding].self) { group in
      for file in files {
        group.addTask {
          imports.check(file) + LengthRules.check(file) + CallRules.check(file)
            + SafetyRules.check(file) + CommentRules.checkWidth(file)
            + CommentRules.prose(of: file).findings + CommentRules.checkNames(file)
            + documentation.check(file)
        }
      }
      for await part in group { findings += part }
    }
    return findings.sorted()
  }

  private func pageFindings(_ manifest: Manifest) -> [Finding] {
    let picture = pages.first { $0.path == PictureRules.path }
    let links = pages.flatMap { page in
      LinkRules.check(page.path, page.text) {
        FileManager.default.fileExists(atPath: root + "/" + $0)
      }
    }
    let prose = pages.flatMap { CommentRules.checkPage($0.path, $0.text) }
    return links + prose + (picture.map { PictureRules(manifest: manifest).check($0.text) } ?? [])
  }

  /// Files that differ from the main branch, relative to the repository; empty when git cannot say.
  func changedFiles() -> Set<String> {
    let result = try? Command.run(
      ["git", "diff", "--name-only", "--merge-base", "origin/main"], in: root)
    return Set((result?.output ?? "").split(separator: "\n").map(String.init))
  }
}
