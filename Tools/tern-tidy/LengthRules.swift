/// How long a file and a function may be.
enum LengthRules {
  static let fileLines = 500
  static let functionLines = 70

  static func check(_ file: SourceFile) -> [Finding] {
    var findings = longFunctions(in: file)
    if file.lines.count > fileLines {
      findings.append(
        Finding(
          file: file.path, line: fileLines + 1, rule: "file-length",
          message: "\(file.lines.count) lines, at most \(fileLines)"))
    }
    return findings
  }

  /// The middle length of `files`, in lines; 0 for none.
  static func median(of files: [SourceFile]) -> Int {
    let lengths = files.map(\.lines.count).sorted()
    return lengths.isEmpty ? 0 : lengths[lengths.count / 2]
  }

  private static func longFunctions(in file: SourceFile) -> [Finding] {
    file.code.indices.compactMap { start in
      guard let name = functionName(file.code[start]),
        let end = lastLine(of: start, in: file.code)
      else { return nil }
      let length = end - start + 1
      guard length > functionLines else { return nil }
      return Finding(
        file: file.path, line: start + 1, rule: "function-length",
        message: "\(name) has \(length) lines, at most \(functionLines)")
    }
  }

  /// The name of the function that is declared on this line.
  static func functionName(_ line: String) -> String? {
    let words = line.split(whereSeparator: { " \t(<?".contains($0) })
    for (index, word) in words.enumerated() {
      switch word {
      case "func": return index + 1 < words.count ? String(words[index + 1]) : nil
      case "init", "deinit", "subscript": return String(word)
      case _ where modifiers.contains(word) || word.hasPrefix("@"): continue
      default: return nil
      }
    }
    return nil
  }

  private static let modifiers: Set<Substring> = [
    "public", "package", "internal", "private", "fileprivate", "open", "static", "class",
    "final", "override", "mutating", "nonmutating", "nonisolated", "isolated", "convenience",
    "required", "borrowing", "consuming", "indirect", "prefix", "postfix", "infix", "async",
    "unsafe",
  ]

  /// The line of the brace that closes the body begun at or after `start`, or `nil` for a
  /// declaration without one.
  private static func lastLine(of start: Int, in code: [String]) -> Int? {
    var braces = 0
    var parentheses = 0
    for index in start..<code.count {
      for byte in code[index].utf8 {
        switch byte {
        case UInt8(ascii: "("): parentheses += 1
        case UInt8(ascii: ")"): parentheses -= 1
        case UInt8(ascii: "{"): braces += 1
        case UInt8(ascii: "}"):
          braces -= 1
          if braces == 0, parentheses == 0 { return index }
          if braces < 0 { return nil }
        default: break
        }
      }
      let isOpen = braces > 0 || parentheses > 0
      if !isOpen, index > start, functionName(code[index]) != nil { return nil }
      if !isOpen, isComplete(code, index) { return nil }
    }
    return nil
  }

  /// Whether a declaration without a body ends here: the next line neither continues it nor
  /// opens its body.
  private static func isComplete(_ code: [String], _ index: Int) -> Bool {
    guard index + 1 < code.count else { return true }
    let next = code[index + 1].drop { $0 == " " || $0 == "\t" }
    return !["{", ")", "->", "throws", "async", "where", "rethrows"].contains {
      next.hasPrefix($0)
    }
  }
}
