/// That something is not allowed.
public struct AccessRefusal: Error, Hashable, Sendable {
  /// By what an operator finds the reason in the log; `nil` when there is nothing to be found.
  /// It says nothing about data or rules, so clients may have it.
  public let id: String?

  /// A refusal whose reason is known by `id`.
  public init(id: String? = nil) { self.id = id }
}

extension AccessRefusal {
  /// The sentence clients of the Realtime Database know.
  package static let sentence = "Permission denied"

  /// What a client is told where there is room for one text: the sentence, and the id in brackets.
  package var text: String { Self.sentence + (id.map { " [\($0)]" } ?? "") }

  /// The refusal that ``text`` tells of; one without an id for any other text.
  package init(text: String) {
    let head = Self.sentence + " ["
    guard text.hasPrefix(head), text.hasSuffix("]") else {
      self.init()
      return
    }
    self.init(id: String(text.dropFirst(head.count).dropLast()))
  }
}
