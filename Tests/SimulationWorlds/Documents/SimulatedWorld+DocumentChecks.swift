import TernCore
import TernDocumentAuthority
import TernDocumentReplica
import TernLedger
import TernQuery
import TernServer
import TernStorage
import TernSync

// What must always hold of documents, checked after everything that a client does.

extension SimulatedWorld {
  /// Checks everything a client shows.
  func checkDocuments(_ run: DocumentRun) {
    guard disagreements.isEmpty, run.news != run.checkedNews else { return }
    run.checkedNews = run.news
    for id in run.listeners.keys.sorted(by: { $0.number < $1.number }) {
      guard var mirror = run.listeners[id], mirror.hasHeard else { continue }
      check(&mirror, run)
      mirror.isNews = false
      run.listeners[id] = mirror
    }
  }

  // MARK: What was heard

  func heard(_ snapshot: DocumentViewSnapshot, _ id: DocumentListenerID, _ run: DocumentRun) {
    run.news += 1
    if run.endedListeners.contains(id) { disagree("\(run.name) hears of a listener that ended") }
    guard var mirror = run.listeners[id] else { return }
    for change in snapshot.changes where !mirror.take(change) {
      disagree("\(run.name) \(mirror.query.target.id) cannot follow \(change)")
    }
    let isSame = mirror.documents.elementsEqual(snapshot.documents) {
      $0.key == $1.key && $0.state == $1.state
    }
    if !isSame {
      let (sum, whole) = (words(mirror.documents), words(Array(snapshot.documents)))
      disagree("\(run.name) \(mirror.query.target.id) adds up to \(sum), is \(whole)")
    }
    mirror.documents = Array(snapshot.documents)
    mirror.mutated = snapshot.mutatedKeys
    mirror.isFromCache = snapshot.isFromCache
    mirror.hasHeard = true
    trace.note(
      "  \(run.name) hears \(mirror.query.target.id)\(snapshot.isFromCache ? " (cache)" : ""): "
        + "\(words(mirror.documents)), pending \(snapshot.mutatedKeys.sorted())")
    mirror.isNews = true
    run.listeners[id] = mirror
  }

  func failed(_ id: DocumentListenerID, _ status: DocumentStatus, _ run: DocumentRun) {
    guard let mirror = run.listeners.removeValue(forKey: id) else { return }
    let isDenied = documents.wasDenied(mirror.query, to: run.user, since: mirror.since)
    if status.code != .permissionDenied || !isDenied {
      disagree("\(place(mirror, run)) fails with \(status)")
    }
    run.endedListeners.insert(id)
  }

  func answered(_ id: DocumentListenerID, _ result: DocumentGetResult, _ run: DocumentRun) {
    guard let read = run.reads.removeValue(forKey: id) else { return }
    var mirror = read.mirror
    switch result {
    case .failure(let status):
      let isDenied =
        status.code == .permissionDenied
        && documents.wasDenied(mirror.query, to: run.user, since: mirror.since)
      if status.code != .unavailable, !isDenied {
        disagree("\(place(mirror, run)) is read with \(status)")
      }
      if read.expected?.isEmpty == false { disagree("\(place(mirror, run)) is forgotten") }
    case .success(let snapshot):
      mirror.documents = Array(snapshot.documents)
      mirror.mutated = snapshot.mutatedKeys
      mirror.isFromCache = snapshot.isFromCache
      mirror.isNews = true
      if read.source == .server, snapshot.isFromCache {
        disagree("\(place(mirror, run)) is not the server's")
      }
      check(&mirror, run)
      let left = Dictionary(uniqueKeysWithValues: mirror.documents.map { ($0.key, $0.state) })
      for document in read.expected ?? [] where left[document.key] != document.state {
        disagree("\(place(mirror, run)) has \(words(mirror.documents)) left, lacks \(document)")
      }
    }
  }

  func waited(_ id: DocumentWaitID, _ isCancelled: Bool, _ run: DocumentRun) {
    guard let (user, last) = run.waits.removeValue(forKey: id) else { return }
    if isCancelled != (user != run.user) {
      disagree("\(run.name) \(isCancelled ? "gives up" : "ends") a wait of \(user.id)")
    }
    if !isCancelled, run.pending.contains(where: { $0.batch.id <= last }) {
      disagree("\(run.name) has waited for batch \(last), which is pending")
    }
  }

  // MARK: Views

  private func check(_ mirror: inout DocumentMirror, _ run: DocumentRun) {
    let view = ViewCheck(mirror, run, documents, results)
    if let words = view.orderIsWrong() { return disagree("\(place(mirror, run)) \(words)") }
    if mirror.isFromCache {
      if let words = view.couldNotBe() { disagree("\(place(mirror, run)) \(words)") }
      return
    }
    // Who does not hear of metadata does not know whether this is still the server's.
    if !mirror.options.includesMetadata, !mirror.isNews { return }
    var words = ""
    for version in versions(of: mirror, run) {
      guard let wrong = view.isNot(at: version) ?? mayNotBeSeen(mirror, at: version, run) else {
        mirror.version = version
        return
      }
      if words.isEmpty { words = "at \(version.microseconds) \(wrong)" }
    }
    disagree("\(place(mirror, run)) \(words)")
  }

  /// Describes what a view shows against the rules of its time; `nil` when there is nothing.
  private func mayNotBeSeen(
    _ mirror: DocumentMirror, at version: DocumentVersion, _ run: DocumentRun
  ) -> String? {
    let found = mayNotBeSeen(mirror, by: run.user, at: version, run)
    if found == nil { return nil }
    for user in run.formerUsers where mayNotBeSeen(mirror, by: user, at: version, run) == nil {
      return nil
    }
    return found
  }

  private func mayNotBeSeen(
    _ mirror: DocumentMirror, by user: QueueUser, at version: DocumentVersion, _ run: DocumentRun
  ) -> String? {
    if !documents.mayRead(mirror.query, by: user, at: version) {
      return "is seen, which \(user.id) may not"
    }
    let truth = documents.moment(at: version).documents
    // What this device has written itself shows before the server has judged it.
    let stored = mirror.documents.filter { document in
      truth[document.key]?.fields == document.fields && run.pending(at: document.key).isEmpty
    }
    let hidden = documents.hidden(stored, mirror.query, from: user, at: version)
    return hidden.isEmpty ? nil : "shows \(hidden) to \(user.id), who may not see them"
  }

  /// The times as of which a view may be.
  private func versions(of mirror: DocumentMirror, _ run: DocumentRun) -> [DocumentVersion] {
    var earliest = mirror.version
    if let target = mirror.target, run.confirmed.contains(target),
      run.before?.confirmed.contains(target) != false
    {
      // Of frames that are taken in together, an answer may be as of any snapshot.
      earliest = max(earliest, mirror.isNews ? run.before?.version ?? run.version : run.version)
    }
    var versions: [DocumentVersion] = []
    for time in run.told.reversed() where time <= run.version {
      if time < earliest { break }
      if time != versions.last { versions.append(time) }
    }
    return versions.contains(run.version) ? versions : versions + [run.version]
  }

  private func place(_ mirror: DocumentMirror, _ run: DocumentRun) -> String {
    "\(run.name) \(mirror.query.target.id)\(mirror.isFromCache ? " (cache)" : ""):"
  }

  // MARK: The server

  /// Replays what was committed of documents and compares it with what is stored.
  func followDocuments(_ entries: [LogEntry], _ ledger: EmbeddedLedger) throws(LedgerError) {
    let (wrong, changed) = documents.follow(entries)
    for words in wrong { disagree("the log of documents: \(words)") }
    if !changed.isEmpty { try compareStored(changed.sorted(), ledger) }
  }

  func compareStored(
    _ keys: [DocumentKey], _ ledger: EmbeddedLedger
  ) throws(LedgerError) {
    let database = DocumentWorkloadSpace.database
    let authority = DocumentAuthority(
      rows: DocumentRows(prefix: documents.prefix ?? [], database: database))
    let found = try ledger.read { snapshot throws(StorageError) in
      try authority.documents(keys, in: snapshot.reader)
    }
    for (key, document) in zip(keys, found) {
      let truth = documents.truth.documents[key]
      if document.fields != truth?.fields || truth.map({ $0.version != document.version }) == true {
        disagree("the server stores \(document) at \(key), the log says \(words(truth))")
      }
    }
  }

  // MARK: The end

  /// Returns the operations that a document client still waits for.
  func unrest(of client: SimulatedDocumentClient) -> [String] {
    guard let run = client.run else { return ["\(client.name) is down"] }
    var unrest: [String] = []
    if !run.pending.isEmpty { unrest.append("\(run.name) has \(run.pending.count) batches") }
    if !run.reads.isEmpty { unrest.append("\(run.name) reads") }
    if !run.calls.isEmpty { unrest.append("\(run.name) calls") }
    if !run.waits.isEmpty { unrest.append("\(run.name) waits") }
    for mirror in run.listeners.values where mirror.options.source == .server {
      let hasHeard = mirror.hasHeard && (!mirror.isFromCache || !mirror.options.includesMetadata)
      if hasHeard, let target = mirror.target, run.confirmed.contains(target) { continue }
      unrest.append("\(run.name) waits for \(mirror.query.target.id)")
    }
    return unrest
  }

  /// Checks that all clients have the same documents at rest.
  func compareDocuments() {
    for client in documentClients {
      guard let run = client.run else { continue }
      for mirror in run.listeners.values where mirror.options.source == .server {
        if !documents.mayRead(mirror.query, by: run.user) {
          disagree("\(place(mirror, run)) is listened to by \(run.user.id), who may not")
        }
        let truth = documents.truth.result(of: mirror.query)
        let isSame = mirror.documents.elementsEqual(truth) {
          $0.key == $1.key && $0.fields == $1.fields
        }
        let hasMarks = mirror.options.includesMetadata && !mirror.mutated.isEmpty
        if !isSame || hasMarks {
          disagree(
            """
            \(place(mirror, run)) ends with \(words(mirror.documents)), truth \(words(truth)), \
            pending \(mirror.mutated)
            """)
        }
      }
    }
    for (id, durable) in documents.durable where !durable.isAnswered {
      disagree("\(id) is not answered: \(durable.mutations.map { words($0) })")
    }
    let tally = count(in: documents.truth.documents[DocumentWorkloadSpace.tally])
    if tally < documents.tally.least || tally > documents.tally.most {
      disagree("the tally is \(tally), expected \(documents.tally)")
    }
  }
}

extension DocumentModel.Moment {
  /// Returns the result of a query, computed from every document.
  func result(of query: DocumentQuery) -> [Document] {
    query.run(
      over: documents.map { key, document in
        Document(
          key, document.fields.map { .found($0) } ?? .missing, version: document.version)
      })
  }
}

func words(_ documents: [Document]) -> String {
  documents.map { "\($0.key)=\($0.fields.map { words($0) } ?? "-")" }.joined(separator: ", ")
}

extension DocumentMirror {
  /// Applies a change at its indices; `false` when it does not fit.
  fileprivate mutating func take(_ change: DocumentViewChange) -> Bool {
    if let index = change.oldIndex {
      guard documents.indices.contains(index), documents[index].key == change.document.key else {
        return false
      }
      documents.remove(at: index)
    }
    if let index = change.newIndex {
      guard 0...documents.count ~= index else { return false }
      documents.insert(change.document, at: index)
    }
    return (change.oldIndex == nil) == (change.kind == .added)
      && (change.newIndex == nil) == (change.kind == .removed)
  }
}
