import TernCore
import TernDocumentWire
import TernSync

/// The channel of documents to their server: the connection, the credential, and the calls that
/// share a link. See Docs/Formats/document-wire.md.
struct DocumentChannel: Sendable {
  var connection: ClientConnection<DocumentClientEffect>
  let ambient: RuntimeEnvironment
  let database: DocumentDatabase
  let names: DocumentNames
  private var credential = CredentialState()
  private var lastCall: UInt32 = 0
  /// True while a working link is being left for another one.
  var isLeaving = false

  /// - Parameter addressCount: The number of addresses of the server, 1 or more.
  init(to database: DocumentDatabase, ambient: RuntimeEnvironment, addressCount: Int) {
    connection = ClientConnection(addressCount: addressCount)
    self.database = database
    self.ambient = ambient
    names = DocumentNames(database)
  }

  mutating func emit(_ effect: DocumentClientEffect) { connection.emit(effect) }
}

// MARK: - Credential

extension DocumentChannel {
  /// The credential that is shown with every call; `nil` for none.
  var token: String? { credential.token }

  /// True while everything waits for another credential.
  ///
  /// With one that the server rejected no request is made: it would be rejected again.
  var holdsBack: Bool { credential.isRefused }

  /// Shows another credential on the next link.
  mutating func setCredential(_ token: String?) { credential.set(token) }

  /// A call was refused for who asks. All calls of a link show what is shown now.
  mutating func credentialRefused(_ reason: String) {
    guard !credential.isRefused, let token = credential.refuse() else { return }
    emit(.credential(.refused(token, reason: reason)))
  }
}

// MARK: - Calls

extension DocumentChannel {
  mutating func send(_ frame: DocumentClientFrame) { connection.send(frame.encode()) }

  /// Begins a call.
  mutating func open(_ method: DocumentMethod, _ message: [UInt8]? = nil) -> UInt32 {
    lastCall += 1
    var metadata = [
      DocumentCallOpening.Entry("google-cloud-resource-prefix", database.resourceName)
    ]
    if let token { metadata.append(.init("authorization", "Bearer " + token)) }
    send(
      .open(
        stream: lastCall,
        DocumentCallOpening(method, metadata: metadata, message: message)))
    return lastCall
  }

  /// Sends a message of a call that is under way.
  mutating func send(_ body: DocumentRequest.Body, in call: UInt32) {
    send(.message(stream: call, DocumentRequest(body, in: database).encode()))
  }

  /// Begins to number calls anew, for another link.
  mutating func restartNumbers() { lastCall = 0 }
}
