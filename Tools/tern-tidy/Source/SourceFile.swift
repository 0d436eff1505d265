/// One Swift file, as written and as code alone.
struct SourceFile: Sendable {
  /// Relative to the repository.
  let path: String
  /// The lines as written.
  let lines: [String]
  /// The same lines with comments and the contents of string literals blanked.
  let code: [String]
  let tokens: [Token]
  let outline: Outline

  init(path: String, text: String) {
    self.path = path
    lines = Self.split(Array(text.utf8))
    var mask = SourceMask(Array(text.utf8))
    code = Self.split(mask.run())
    tokens = Token.scan(code)
    outline = Outline(tokens)
  }

  /// The folder that gives the kind of code: `Modules`, `Apps`, `Tools`, `Tests`.
  var area: Substring { path.prefix { $0 != "/" } }

  /// Area and folder below it: `Modules/Core`.
  var module: String {
    path.split(separator: "/").prefix(2).joined(separator: "/")
  }

  /// The comment on line `index`, from its slashes to the end; `nil` when there is none.
  func comment(on index: Int) -> Substring? {
    guard lines[index].utf8.count > code[index].utf8.count || lines[index] != code[index] else {
      return nil
    }
    // The blanked tail begins where the comment begins.
    let (line, masked) = (Array(lines[index].utf8), Array(code[index].utf8))
    let slash = UInt8(ascii: "/")
    for start in line.indices.dropLast() where line[start] == slash && line[start + 1] == slash {
      if masked[start...].allSatisfy({ $0 == UInt8(ascii: " ") }) {
        return lines[index][lines[index].utf8.index(lines[index].startIndex, offsetBy: start)...]
      }
    }
    return nil
  }

  /// The text of the comment lines directly above `index`, past attributes, and on `index`.
  func commentary(at index: Int) -> String {
    var text = comment(on: index).map(String.init) ?? ""
    var above = index - 1
    while above >= 0 {
      let line = lines[above].drop { $0 == " " }
      guard line.hasPrefix("//") || line.hasPrefix("@") else { break }
      text = line + "\n" + text
      above -= 1
    }
    return text
  }

  private static func split(_ bytes: [UInt8]) -> [String] {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    if lines.last == "" { lines.removeLast() }
    return lines
  }
}
