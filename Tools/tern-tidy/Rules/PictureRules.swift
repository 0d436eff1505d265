/// The picture and the table of Docs/ARCHITECTURE.md tell the same as Package.swift.
///
/// A cell of the picture reads `A, B -> C, D`. Cells are divided by three spaces; text in
/// parentheses is a remark. An arrow that follows from others may be left out.
struct PictureRules: Sendable {
  static let path = "Docs/ARCHITECTURE.md"

  let manifest: Manifest

  func check(_ page: String) -> [Finding] {
    let modules = manifest.targets.filter { $0.path.hasPrefix("Modules/") }
    let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
    // Module maps and sources of C are in the table alone.
    let drawn = modules.filter { $0.name.hasPrefix("Tern") }
    return checkArrows(Self.arrows(in: lines), drawn) + checkTable(lines, modules)
  }

  struct Arrow: Hashable {
    let from: String
    let to: String
    let line: Int
  }

  /// The arrows of the first block of text in backquotes.
  static func arrows(in lines: [Substring]) -> [Arrow] {
    var (arrows, isInside) = ([Arrow](), false)
    for (index, line) in lines.enumerated() {
      if line.hasPrefix("```") {
        if isInside { break }
        isInside = true
      } else if isInside {
        for cell in cells(of: line) { arrows += Self.arrows(in: cell, line: index + 1) }
      }
    }
    return arrows
  }

  private static func cells(of line: Substring) -> [String] {
    var (text, level) = ("", 0)
    for character in line {
      if character == "(" { level += 1 }
      if level == 0 { text.append(character) }
      if character == ")" { level -= 1 }
    }
    return text.replacing("   ", with: "\u{0}").split(separator: "\u{0}").map(String.init)
  }

  private static func arrows(in cell: String, line: Int) -> [Arrow] {
    let sides = cell.split(separator: "->").map {
      $0.split(separator: ",").map { String($0.filter { $0 != " " }) }.filter { !$0.isEmpty }
    }
    guard sides.count >= 2 else { return [] }
    return zip(sides, sides.dropFirst()).flatMap { from, to in
      from.flatMap { from in to.map { Arrow(from: from, to: $0, line: line) } }
    }
  }

  private func checkArrows(_ arrows: [Arrow], _ modules: [Manifest.Target]) -> [Finding] {
    let names = Set(modules.map { Self.short($0.name) })
    var drawn: [String: Set<String>] = [:]
    for arrow in arrows { drawn[arrow.from, default: []].insert(arrow.to) }
    var findings: [Finding] = []
    for arrow in arrows {
      if let unknown = [arrow.from, arrow.to].first(where: { !names.contains($0) }) {
        findings.append(finding(arrow.line, "the picture names \(unknown), which is no module"))
      } else if !manifest.reach(of: Self.full(arrow.from, modules)).contains(where: {
        Self.short($0.module) == arrow.to
      }) {
        findings.append(
          finding(arrow.line, "the picture has \(arrow.from) -> \(arrow.to), Package.swift has not")
        )
      }
    }
    for module in modules {
      let name = Self.short(module.name)
      let follows = Self.reach(name, drawn)
      for dependency in module.dependencies.map(Self.short)
      where names.contains(dependency) && !follows.contains(dependency) {
        findings.append(
          finding(0, "Package.swift has \(name) -> \(dependency), the picture has not"))
      }
    }
    return findings
  }

  private func checkTable(_ lines: [Substring], _ modules: [Manifest.Target]) -> [Finding] {
    let rows = lines.filter { $0.hasPrefix("| `") }.map { $0.dropFirst().prefix { $0 != "|" } }
    let listed = Set(rows.flatMap { $0.split(separator: "`") }.map(String.init))
    return modules.map { Self.short($0.name) }.filter { !listed.contains($0) }.map {
      finding(0, "the table of modules does not have `\($0)`")
    }
  }

  private static func reach(_ name: String, _ arrows: [String: Set<String>]) -> Set<String> {
    var (found, open) = (Set<String>(), [name])
    while let next = open.popLast() {
      for to in arrows[next] ?? [] where found.insert(to).inserted { open.append(to) }
    }
    return found
  }

  private static func short(_ name: String) -> String {
    name.hasPrefix("Tern") && name != "TernKit" ? String(name.dropFirst(4)) : name
  }

  private static func full(_ name: String, _ modules: [Manifest.Target]) -> String {
    modules.first { short($0.name) == name }?.name ?? name
  }

  private func finding(_ line: Int, _ message: String) -> Finding {
    Finding(file: Self.path, line: line, rule: "picture", message: message)
  }
}
