import Synchronization
import TernKit
import TernServerKit
import Testing

// What Docs/Guides/embedding.md says beside the code of `Apps/guestbook`.

@Suite("A server inside a program", .timeLimit(.minutes(10)))
struct EmbeddedServerTests {
  private static let secret = Array("a secret of thirty-two bytes, at least".utf8)

  @Test("rules of both models, tokens, reasons of denials, and other rules while it runs")
  func server() async throws {
    let keys = try await TokenKeys.reading(Self.secret)
    let issuer = try TokenIssuer(keys)
    let reasons = Mutex<[RulesExplanation]>([])
    let documentRules = """
      service cloud.firestore {
        match /databases/{database}/documents {
          match /notes/{note} { allow read, write: if request.auth.uid == 'ann'; }
        }
      }
      """
    let server = try await Assembler(catalog: .serving).server(
      from: Configuration(
        storage: ["kind": "memory"], transport: ["kind": "tcp", "host": "127.0.0.1", "port": 0]),
      authorizer: RulesAuthorizer(
        try TreeRules(#"{"rules": {"$uid": {".write": "auth.uid === $uid"}}}"#)
      ) { reason in reasons.withLock { $0.append(reason) } },
      documentAuthorizer: DocumentRulesAuthorizer(
        DocumentRulesSet(common: try DocumentRules(source: documentRules))),
      authenticator: TokenAuthenticator(keys))
    var options = TernOptions()
    options.storage = .memory
    options.report = { _ in }
    options.token = try issuer.sign(
      user: "ann", now: Int64(Date.now.timeIntervalSince1970), lifetimeSeconds: 600)
    let ann = try await TernDatabase.open(server: server.address, options)

    try await ann.tree["ann"].set(1).acknowledged()
    try await ann.documents.document("notes/n").set(["a": 1]).acknowledged()
    await #expect(throws: DocumentsError.self) {
      try await ann.documents.document("other/n").get()
    }
    await #expect(throws: AcknowledgementError.self) {
      try await ann.tree["ben"].set(1).acknowledged()
    }
    #expect(reasons.withLock { $0.count } == 1)
    await server.server.adopt(
      RulesAuthorizer(try TreeRules(#"{"rules": {".write": "auth != null"}}"#)))
    try await ann.tree["ben"].set(2).acknowledged()

    options.token = nil
    let stranger = try await TernDatabase.open(server: server.address, options)
    await #expect(throws: AcknowledgementError.self) {
      try await stranger.tree["ben"].set(3).acknowledged()
    }
    await ann.close()
    await stranger.close()
    await server.stop()
  }

  @Test("without an authorizer clients on this machine may do everything; with the narrowest none")
  func defaults() async throws {
    for isOpen in [true, false] {
      let assembler = Assembler(catalog: .serving)
      let server =
        isOpen
        ? try await assembler.server(from: .inMemory)
        : try await assembler.server(from: .inMemory, authorizer: AllowAdministrators())
      let tern = try await assembler.client(from: .inMemory)
      let write = try await tern.tree["a"].set(1)
      let accepted = await (try? write.acknowledged()) != nil
      #expect(accepted == isOpen)
      await tern.close()
      await server.stop()
    }
  }
}
