/// That something is not allowed.
///
/// It is the part of a denial that leaves the server; the explanation stays in the operator's log.
public struct AccessRefusal: Error, Hashable, Sendable {
  /// By what an operator finds the reason in the log; `nil` when there is nothing to be found.
  /// It says nothing about data or rules, so clients may have it.
  public let id: String?

  /// The reason as clients of a development server are told it; `nil` elsewhere.
  public let reason: String?

  /// A refusal whose reason is known by `id`.
  public init(id: String? = nil, reason: String? = nil) {
    self.id = id
    self.reason = reason
  }
}

extension AccessRefusal {
  /// The sentence clients of the Realtime Database know.
  package static let sentence = "Permission denied"

  /// The sentence clients of Cloud Firestore know.
  package static let documentSentence = "Missing or insufficient permissions."

  /// The denial as a single text: the sentence, and the id in brackets.
  package var text: String { Self.sentence + bracketedID }

  /// The same in the words of Cloud Firestore; in development the reason alone.
  package var documentText: String { reason ?? Self.documentSentence + bracketedID }

  private var bracketedID: String { id.map { " [\($0)]" } ?? "" }

  /// The refusal that ``text`` tells of; one without an id for any other text.
  ///
  /// The streaming endpoint restores a denial from the text of an answer.
  package init(text: String) {
    let head = Self.sentence + " ["
    guard text.hasPrefix(head), text.hasSuffix("]") else {
      self.init()
      return
    }
    self.init(id: String(text.dropFirst(head.count).dropLast()))
  }
}
