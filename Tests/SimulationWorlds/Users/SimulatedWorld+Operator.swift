import TernCore
import TernLedger
import TernSecurity
import TernServer
import TernStorage
import TernSync

// The operator of the server: changes the rules of documents, and revokes tokens.

/// A request of an operator to a server.
enum OperatorOrder {
  /// The server reads its file of rules again.
  case file(DocumentRuleBook)
  /// The database gets rules of its own, which the server stores.
  case store(DocumentRuleBook)
  /// All tokens of a user that were issued so far are revoked.
  case revoke(QueueUser)
}

extension SimulatedWorld {
  /// Lets a world begin with a rule book.
  func beginRules() {
    rulesFile = .book(newBook())
    documents.adopt(rulesFile)
    plan(.operatorActs, after: 1_000...20_000)
  }

  /// The authorizer of a server with these rules in its file.
  func authorizer(of rules: RulesInForce) -> any DocumentAuthorizer {
    guard let bug else { return rules.authorizer }
    return FaultyAuthorizer(base: rules.authorizer, bug: bug)
  }

  private func newBook() -> DocumentRuleBook {
    let book = DocumentRuleBook(&chance)
    books.append(book)
    return book
  }

  func actAsOperator() {
    if isHealed { return }
    plan(.operatorActs, after: 1_000...40_000)
    switch chance.below(4) {
    case 0:
      // A server that is down reads it when it starts.
      let book = newBook()
      rulesFile = .book(book)
      give(.file(book))
    case 1: if clients.isEmpty, let user = chance.pick(WorkloadUsers.known) { give(.revoke(user)) }
    default: give(.store(newBook()))
    }
  }

  private func give(_ order: OperatorOrder) {
    guard let run = server else { return }
    lastTicket += 1
    run.orders[lastTicket] = order
    let database = DocumentWorkloadSpace.database.resourceName
    let operation: DirectRequest.Operation
    switch order {
    case .file(let book):
      trace.note("the file of rules: \(book.words)")
      let access = ServerAccess(documents: authorizer(of: .book(book)))
      run.inbox.append(.adopt(ticket: lastTicket, access))
      return decideSoon(run)
    case .store(let book):
      trace.note("rules of the database: \(book.words)")
      operation = .setDocumentRules(Array(book.text.utf8), isTrial: false)
    case .revoke(let user):
      trace.note("revokes the tokens of \(user.id)")
      revokedUsers.insert(user)
      operation = .revoke([RevocationChange(user.id, .before(Int64(lastToken + 1)))])
    }
    run.inbox.append(
      .direct(
        ticket: lastTicket,
        DirectRequest(
          namespace: database, isLocal: true, credential: WorkloadTokens.operatorCredential,
          operation)))
    decideSoon(run)
  }

  /// Takes note of the rules that are in force after a batch was decided.
  func noteOrders(in inputs: [ServerInput], _ run: ServerRun) {
    for input in inputs {
      switch input {
      case .adopt(let ticket, let access):
        if let authorizer = access.documents { run.documentAuthorizer = authorizer }
        guard case .file(let book)? = run.orders[ticket], !hasStoredRules else { continue }
        documents.adopt(.book(book))
      case .direct(let ticket, _):
        guard case .store(let book)? = run.orders[ticket] else { continue }
        hasStoredRules = true
        documents.adopt(.book(book))
      default: break
      }
    }
  }

  /// The server answers its operator.
  func answered(_ ticket: UInt64, _ answer: DirectAnswer, _ run: ServerRun) {
    guard let order = run.orders.removeValue(forKey: ticket) else {
      return disagree("the server answers \(ticket), which was not asked or is answered")
    }
    if answer != .done { disagree("the server does not do \(order): \(answer)") }
  }

  /// Finds out which rules a server that has just started judges by.
  func findRules(_ ledger: EmbeddedLedger) throws(LedgerError) {
    if books.isEmpty { return }
    // Source: Docs/Formats/ledger.md, the rules of databases that have rules of their own.
    let key = [0x1C] + DocumentWorkloadSpace.database.resourceName.utf8
    let stored = try ledger.read { snapshot throws(StorageError) in
      try snapshot.scan(KeyRange(prefix: key)).first?.value
    }
    hasStoredRules = stored != nil
    guard let stored else { return documents.adopt(rulesFile) }
    guard let book = DocumentRuleBook.stored(as: stored, among: books) else {
      return disagree("the server stores rules that nobody wrote")
    }
    documents.adopt(.book(book))
  }
}
