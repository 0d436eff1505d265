import TernCore
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import TernStorage

extension DocumentStatus {
  /// The denial of what no rule is asked about.
  static var denied: DocumentStatus { DocumentStatus(denial: AccessRefusal()) }

  /// The rejection of writes while the disk is full.
  static var diskFull: DocumentStatus { DocumentStatus(.resourceExhausted, RefusalText.full) }
}

/// The bytes that an answer holds so far.
struct AnswerSize {
  private let limitBytes: Int
  private var byteCount = 0

  init(limitBytes: Int) { self.limitBytes = limitBytes }

  /// Adds a document.
  ///
  /// - Returns: Why there can be no such answer; `nil` as long as it is not too large.
  mutating func add(_ document: Document) -> DocumentStatus? {
    byteCount += (document.fields?.bytes.count ?? 0) + document.key.text.utf8.count
    return byteCount > limitBytes ? AnswerSize.tooLarge(limitBytes) : nil
  }

  static func tooLarge(_ limitBytes: Int) -> DocumentStatus {
    DocumentStatus(.resourceExhausted, "The answer is larger than \(limitBytes) bytes.")
  }
}
