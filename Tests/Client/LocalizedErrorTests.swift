import Foundation
import TernClient
import TernCore
import TernStorage
import TernSync
import TernTransactions
import TernTransport
import Testing

@Suite("Errors as an alert shows them")
struct LocalizedErrorTests {
  private static let rejection = Rejection(status: "permission_denied", detail: "not yours")

  private static let errors: [any TernError] = [
    TreeError.emptyKey, QueueError.queueFull(limitWrites: 10), WriteError.closed,
    WriteError.queue(.queueFull(limitWrites: 10)),
    AcknowledgementError.timedOut(after: .seconds(5)),
    AcknowledgementError.rejected(rejection), ReadError.offline, ListenError.overflow(limit: 3),
    rejection, TransportError.refused(host: "db", port: 9000),
    TransportError.notBuilt(kind: "tls", trait: "TLS"),
    TransactionError.tooManyAttempts(limit: 25), TransactionError.overridden,
    TransactionError.cancelled, TransactionError.notStored(.queueFull(limitWrites: 1)),
    TransactionError.tooManyWaiting(limit: 7), TransactionError.rejected(rejection),
    TransactionError.closureLost(id: 4), TransactionError.undeclared(name: "pay"),
    TransactionError.invalidResult("a key is empty"),
  ]

  @Test("the localized description is the error's own sentence", arguments: errors.indices)
  func sentence(index: Int) {
    let error = Self.errors[index]
    #expect(error.localizedDescription == error.description)
    #expect(!error.description.isEmpty && !error.description.contains("Error("))
    // There is one text: parts that an alert might add would repeat it.
    #expect(
      error.failureReason == nil && error.recoverySuggestion == nil && error.helpAnchor == nil)
  }

  @Test("a rejection tells the server's word, and its text where there is one")
  func rejections() {
    #expect(Self.rejection.description == "permission_denied: not yours")
    #expect(Rejection(status: "unavailable", detail: "").description == "unavailable")
    let error = AcknowledgementError.rejected(Self.rejection)
    #expect(error.localizedDescription.contains("not yours"))
  }
}
