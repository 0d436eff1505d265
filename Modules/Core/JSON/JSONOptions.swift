/// The dialect of a JSON reader: additions to RFC 8259, and further restrictions.
package struct JSONOptions: Sendable {
  /// Skips `//` and `/* */` comments.
  package var allowsComments = false
  /// Accepts one comma after the last member or element.
  package var allowsTrailingCommas = false
  /// Accepts bare control characters, such as line breaks, in strings.
  package var allowsControlCharacters = false
  /// Rejects a second member of the same name in an object; names are compared by their bytes.
  package var rejectsDuplicates = false
  /// Rejects half of a surrogate pair; otherwise it becomes U+FFFD and is counted.
  package var rejectsLoneSurrogates = false
  /// The most levels of nesting.
  package var depthLimit = JSONOptions.standardDepth

  /// The most levels of nesting unless an option says otherwise.
  package static let standardDepth = 128

  /// RFC 8259, with ``standardDepth`` levels.
  package static let standard = JSONOptions()

  /// Text that every program reads in the same way: no duplicates, no half of a character.
  package static let unambiguous = JSONOptions(
    rejectsDuplicates: true, rejectsLoneSurrogates: true)

  /// Hand-edited text: comments, a trailing comma, and line breaks in strings.
  package static let edited = JSONOptions(
    allowsComments: true, allowsTrailingCommas: true, allowsControlCharacters: true,
    rejectsDuplicates: true, rejectsLoneSurrogates: true)

  package init(
    allowsComments: Bool = false, allowsTrailingCommas: Bool = false,
    allowsControlCharacters: Bool = false, rejectsDuplicates: Bool = false,
    rejectsLoneSurrogates: Bool = false, depthLimit: Int = JSONOptions.standardDepth
  ) {
    self.allowsComments = allowsComments
    self.allowsTrailingCommas = allowsTrailingCommas
    self.allowsControlCharacters = allowsControlCharacters
    self.rejectsDuplicates = rejectsDuplicates
    self.rejectsLoneSurrogates = rejectsLoneSurrogates
    self.depthLimit = depthLimit
  }
}
