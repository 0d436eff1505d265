import TernClient
import TernCore
import TernDocumentReplica
import TernDocumentWire
import TernQuery
import TernStorageMemory
import TernSync
import Testing

@Suite("Book of a transaction")
struct TransactionWriteSetTests {
  private let key = DocumentKey(unchecked: "a/1")
  private let version = DocumentVersion(microseconds: 5)

  @Test("the first write of what was read asks for the version that was read")
  func preconditions() throws {
    var book = TransactionWriteSet()
    try book.note(Document(key, .found([:]), version: version))
    try book.note(Document(DocumentKey(unchecked: "a/2"), .missing))
    try book.note(Document(DocumentKey(unchecked: "a/3"), .found([:]), version: version))
    #expect(book.mayRead)
    try book.write(DocumentMutation(key, .set([:])))
    try book.write(.delete(key))
    try book.write(DocumentMutation(DocumentKey(unchecked: "a/2"), .set([:])))
    #expect(!book.mayRead)
    #expect(
      book.commit.map(\.precondition) == [
        .version(version), .none, .exists(false), .version(version),
      ])
    #expect(book.commit.last?.change == .verify)
  }

  @Test("what is missing cannot be updated, and what changes between two reads is tried again")
  func refusals() throws {
    var book = TransactionWriteSet()
    try book.note(Document(key, .missing))
    let update = DocumentMutation(
      key, .patch([:], mask: .empty), precondition: .exists(true))
    #expect(throws: DocumentStatus.self) { try book.write(update) }
    var other = TransactionWriteSet()
    try other.note(Document(key, .found([:]), version: version))
    #expect(throws: DocumentStatus.self) { try other.note(Document(key, .missing)) }
  }

  @Test("some failures are worth another attempt")
  func retries() {
    for code in DocumentStatus.Code.allCases {
      let again: Set<DocumentStatus.Code> = [
        .aborted, .failedPrecondition, .alreadyExists, .cancelled, .unknown, .deadlineExceeded,
        .resourceExhausted, .internalError, .unavailable, .unauthenticated,
      ]
      #expect(
        TransactionWriteSet.mayRetry(DocumentStatus(code, "")) == again.contains(code))
    }
  }

  @Test("a failure that says nothing about a commit that may be made leaves it uncertain")
  func uncertainCommit() {
    for code in DocumentStatus.Code.allCases {
      let status = DocumentStatus(code, "why")
      #expect(TransactionWriteSet.failure(status, mayBeMade: false) == status)
      let last = TransactionWriteSet.failure(status, mayBeMade: true)
      #expect(last == (code.isPermanent ? status : DocumentStatus(.unavailable, "why")))
    }
  }
}
