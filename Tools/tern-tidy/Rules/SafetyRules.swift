/// Marks that switch a check of the compiler off.
enum SafetyRules {
  static func check(_ file: SourceFile) -> [Finding] {
    guard ["Modules", "Apps", "Tools"].contains(file.area) else { return [] }
    return unproved(in: file) + forceUnwraps(in: file)
  }

  /// A proof names its reason: `@unchecked Sendable` is sound because …
  private static let proof = "sound because"

  private static func unproved(in file: SourceFile) -> [Finding] {
    file.tokens.indices.compactMap { index in
      guard let mark = mark(file.tokens, index) else { return nil }
      // The declaration may begin above the mark.
      let line = file.tokens[index].line
      let start =
        file.outline.declarations
        .last { $0.start <= line && $0.line >= line - 4 && $0.start > line - 8 }?.start ?? line
      guard !file.commentary(at: start).contains(proof),
        !file.commentary(at: line).contains(proof)
      else { return nil }
      return Finding(
        file: file.path, line: line + 1, rule: "unproved",
        message: "\(mark) without a comment that says why it is \(proof) …")
    }
  }

  private static func mark(_ tokens: [Token], _ index: Int) -> String? {
    guard index > 0 else { return nil }
    if tokens[index].text == "unchecked", tokens[index - 1].text == "@" {
      return "@unchecked Sendable"
    }
    if tokens[index].text == "unsafe", index > 1, tokens[index - 1].text == "(",
      tokens[index - 2].text == "nonisolated"
    {
      return "nonisolated(unsafe)"
    }
    return nil
  }

  private static func forceUnwraps(in file: SourceFile) -> [Finding] {
    let tokens = file.tokens
    return tokens.indices.dropFirst().compactMap { index in
      guard tokens[index].text == "!", !tokens[index].isSpaced else { return nil }
      let before = tokens[index - 1]
      let next = index + 1 < tokens.count ? tokens[index + 1] : nil
      // `!=` and the operators that end in it, `try!` and `as!` (a rule of their own), `init!`.
      guard !(next?.text == "=" && next?.isSpaced == false),
        !["try", "as", "init"].contains(before.text),
        before.isWord || ")]}\"?".contains(before.text)
      else { return nil }
      return Finding(
        file: file.path, line: tokens[index].line + 1, rule: "force-unwrap",
        message: "\(before.text)! — handle nil")
    }
  }
}
