import TernClient
import TernCore
import TernDocumentReplica
import TernQuery
import Testing

/// The results of two writes to one document in a transaction, as the documents reference lists
/// them in section 3.8.
@Suite("Transactions of documents")
struct TransactionMatrixTests {
  enum Step: String, Sendable {
    case get, delete, set, update
  }

  enum Outcome: Hashable, Sendable {
    case missing
    /// The document holds what the last write says, and nothing else.
    case replaced
    /// The document holds what the last write says, and what it held before.
    case updated
    case refused(DocumentStatus.Code)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let steps: [Step]
    let onExisting: Outcome
    let onMissing: Outcome

    init(_ steps: [Step], _ onExisting: Outcome, _ onMissing: Outcome) {
      (self.steps, self.onExisting, self.onMissing) = (steps, onExisting, onMissing)
    }

    var testDescription: String { steps.map(\.rawValue).joined(separator: ", ") }
  }

  private static let refused = Outcome.refused(.invalidArgument)

  static let rows = [
    Row([.get, .delete, .delete], .missing, .missing),
    Row([.get, .delete, .update], refused, refused),
    Row([.get, .delete, .set], .replaced, .replaced),
    Row([.get, .update, .delete], .missing, refused),
    Row([.get, .update, .update], .updated, refused),
    Row([.get, .update, .set], .replaced, refused),
    Row([.get, .set, .delete], .missing, .missing),
    Row([.get, .set, .update], .replaced, .replaced),
    Row([.get, .set, .set], .replaced, .replaced),
    Row([.delete, .update], refused, refused),
    Row([.update, .update], .updated, .refused(.notFound)),
    Row([.update, .delete], .missing, .refused(.notFound)),
    Row([.update, .set], .replaced, .refused(.notFound)),
    Row([.set, .update], .replaced, .replaced),
    Row([.set, .set], .replaced, .replaced),
    Row([.set, .delete], .missing, .missing),
  ]

  @Test(
    "two writes to one document have the outcome of the table", .timeLimit(.minutes(10)),
    arguments: rows)
  func outcome(row: Row) async throws {
    let home = try await Home()
    let documents = try home.documentClient().documents
    let existing = documents.document("a/existing")
    try await existing.set(["kept": 1, "n": 0]).acknowledged()
    #expect(try await run(row.steps, on: existing, of: documents) == row.onExisting)
    let missing = documents.document("a/missing")
    #expect(try await run(row.steps, on: missing, of: documents) == row.onMissing)
  }

  private func run(
    _ steps: [Step], on document: DocumentLocation, of documents: Documents
  ) async throws -> Outcome {
    let before = try await document.get(from: .server)
    do {
      try await documents.transaction { transaction in
        for (number, step) in steps.enumerated() {
          let fields: DocumentInput = .value(.integer(Int64(number)))
          switch step {
          case .get: _ = try await transaction.get(document)
          case .delete: try transaction.remove(document)
          case .set: try transaction.set(document, to: ["n": fields])
          case .update: try transaction.update(document, ["n": fields])
          }
        }
      }
    } catch DocumentsError.refused(let status) {
      #expect(try await document.get(from: .server).data() == before.data())
      return .refused(status.code)
    }
    let after = try await document.get(from: .server)
    guard after.exists else { return .missing }
    #expect(after["n"] == .integer(Int64(steps.count - 1)))
    return after["kept"] == nil ? .replaced : .updated
  }
}
