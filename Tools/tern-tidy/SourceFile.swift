/// One Swift file, as written and as code alone.
struct SourceFile {
  /// Relative to the repository.
  let path: String
  /// The lines as written.
  let lines: [String]
  /// The same lines with comments and the contents of string literals blanked.
  let code: [String]

  init(path: String, text: String) {
    self.path = path
    lines = Self.split(Array(text.utf8))
    var mask = SourceMask(Array(text.utf8))
    code = Self.split(mask.run())
  }

  /// The folder that says what kind of code this is: `Modules`, `Apps`, `Tools`, `Tests`.
  var area: Substring { path.prefix { $0 != "/" } }

  private static func split(_ bytes: [UInt8]) -> [String] {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    if lines.last == "" { lines.removeLast() }
    return lines
  }
}
