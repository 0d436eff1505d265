package import TernCore
package import TernQuery

/// The replica's state that the aggregation needs: the targets, and their documents.
package protocol WatchKnowledge {
  /// A target that is wanted now; `nil` for any other.
  func wanted(_ target: Int32) -> WatchTarget?
  /// The documents of a target as of the last snapshot.
  func serverKeys(of target: Int32) -> Set<DocumentKey>
  /// Returns `true` if a target had a document as of the last snapshot.
  func holds(_ key: DocumentKey, in target: Int32) -> Bool
}

extension WatchKnowledge {
  package func holds(_ key: DocumentKey, in target: Int32) -> Bool {
    serverKeys(of: target).contains(key)
  }
}

/// Gathers the messages of one listen stream until they make a consistent snapshot.
///
/// Source: documents reference, section 5.8.
package struct WatchAggregator: Sendable {
  private let database: DocumentDatabase
  var targets: [Int32: WatchedTarget] = [:]
  private var told = ToldDocuments()
  /// The targets of one document that brought its contents.
  private var answered: Set<Int32> = []
  private var mismatched: [Int32: WatchTarget.Purpose] = [:]
  /// The targets that go on from an earlier stream and have not caught up in this one.
  private var behind: Set<Int32> = []
  /// The time of a snapshot that was held back for their sake.
  private var heldBack: DocumentVersion?

  /// Starts with a new stream.
  package init(database: DocumentDatabase) { self.database = database }

  /// A request about a target was sent.
  package mutating func requested(_ target: Int32) { targets[target, default: .init()].requested() }

  /// A target was asked for as of where an earlier stream had ended.
  mutating func resumed(_ target: Int32) { behind.insert(target) }

  /// Forgets what was heard of a target.
  mutating func startAnew(_ target: Int32) { targets[target]?.startAnew() }

  /// The server has refused a target, or ended it by itself.
  ///
  /// The end of an earlier request may meet later ones that are on their way: they stand.
  ///
  /// - Returns: Whether it concerns the last request for a target that is wanted.
  mutating func refused(_ target: Int32, isWanted: Bool) -> Bool {
    guard let watched = targets[target], watched.isPending else { return isWanted }
    guard watched.awaitsAnswer(isWanted: isWanted) else { return false }
    targets[target]?.answered()
    return isWanted && targets[target]?.isPending == false
  }

  /// Forgets a target.
  package mutating func forget(_ target: Int32) {
    targets[target] = nil
    behind.remove(target)
  }

  /// Takes in a message; failures of targets and snapshots are the caller's.
  package mutating func handle(_ change: WatchChange, _ knowledge: some WatchKnowledge) {
    switch change {
    case .target(let change): handle(change, knowledge)
    case .changed(let document, let belonging, let removed):
      for target in belonging { insert(document, into: target, knowledge) }
      for target in removed { remove(document.key, from: target, document, knowledge) }
    case .deleted(let key, let readTime, let removed):
      let gone = Document(key, .missing, version: readTime)
      for target in removed { remove(key, from: target, gone, knowledge) }
    case .removed(let key, _, let removed):
      for target in removed { remove(key, from: target, nil, knowledge) }
    case .filter(let target, let count, let unchanged):
      handleFilter(target, count, unchanged, knowledge)
    }
  }

  private mutating func handle(_ change: WatchTargetChange, _ knowledge: some WatchKnowledge) {
    let named =
      change.targets.isEmpty
      ? targets.keys.filter { isActive($0, knowledge) } : change.targets
    for target in named {
      switch change.kind {
      case .none:
        if isActive(target, knowledge) { targets[target]?.take(token: change.resumeToken) }
      case .added: answer(target, change.resumeToken, knowledge)
      case .removed:
        targets[target]?.answered()
        if targets[target]?.isPending == false { targets[target] = nil }
        behind.remove(target)
      case .current:
        behind.remove(target)
        // Another snapshot follows, with what was told up to here.
        heldBack = nil
        guard isActive(target, knowledge) else { continue }
        targets[target]?.markCurrent()
        targets[target]?.take(token: change.resumeToken)
      case .reset:
        guard isActive(target, knowledge) else { continue }
        reset(target, knowledge)
        targets[target]?.take(token: change.resumeToken)
      }
    }
  }

  private mutating func answer(
    _ target: Int32, _ token: [UInt8], _ knowledge: some WatchKnowledge
  ) {
    targets[target]?.answered()
    if targets[target]?.isPending == false { targets[target]?.clear() }
    // Who does not continue from somewhere is told what there is, and not what is gone since an
    // earlier answer that broke off.
    if isActive(target, knowledge), knowledge.wanted(target)?.resume == nil {
      empty(target, knowledge)
    }
    targets[target]?.take(token: token)
  }

  /// Returns `true` if the server's messages about a target apply.
  private func isActive(_ target: Int32, _ knowledge: some WatchKnowledge) -> Bool {
    targets[target]?.isPending == false && knowledge.wanted(target) != nil
  }

  private mutating func insert(
    _ document: Document, into target: Int32, _ knowledge: some WatchKnowledge
  ) {
    guard let place = targets.index(forKey: target), !targets.values[place].isPending,
      let wanted = knowledge.wanted(target)
    else { return }
    let isKnown = knowledge.holds(document.key, in: target)
    targets.values[place].insert(document.key, isKnown: isKnown)
    if wanted.singleDocument == document.key { answered.insert(target) }
    told.note(document.key, document, from: target)
  }

  private mutating func remove(
    _ key: DocumentKey, from target: Int32, _ document: Document?,
    _ knowledge: some WatchKnowledge
  ) {
    guard isActive(target, knowledge) else { return }
    let isKnown = knowledge.holds(key, in: target)
    targets[target]?.remove(key, isKnown: isKnown)
    if document != nil, knowledge.wanted(target)?.singleDocument == key { answered.insert(target) }
    told.note(key, document, from: target)
  }

  /// Discards the messages about a target, and removes all its documents.
  private mutating func reset(_ target: Int32, _ knowledge: some WatchKnowledge) {
    targets[target] = WatchedTarget()
    empty(target, knowledge)
  }

  /// Removes all documents of a target, unless the server sends them again.
  private mutating func empty(_ target: Int32, _ knowledge: some WatchKnowledge) {
    for key in knowledge.serverKeys(of: target) { remove(key, from: target, nil, knowledge) }
  }
}

// MARK: Existence filters

extension WatchAggregator {
  /// Compares how many documents a target should hold with how many it does.
  ///
  /// Source: documents reference, section 5.9.
  private mutating func handleFilter(
    _ target: Int32, _ count: Int, _ unchanged: BloomFilter?, _ knowledge: some WatchKnowledge
  ) {
    guard isActive(target, knowledge), let wanted = knowledge.wanted(target) else { return }
    if let key = wanted.singleDocument {
      if count == 0 { remove(key, from: target, Document(key, .missing), knowledge) }
      return
    }
    let held = knowledge.serverKeys(of: target).count + (targets[target]?.growth ?? 0)
    guard held != count else { return }
    var purpose = WatchTarget.Purpose.existenceFilterMismatch
    if let unchanged, !unchanged.isEmpty {
      if held - removeAbsent(from: target, unchanged, knowledge) == count { return }
      purpose = .existenceFilterMismatchBloom
    }
    reset(target, knowledge)
    mismatched[target] = purpose
    // It is asked for anew, and nothing of it is certain until then.
    behind.remove(target)
  }

  /// Takes out what is certainly not in the target any more.
  private mutating func removeAbsent(
    from target: Int32, _ filter: BloomFilter, _ knowledge: some WatchKnowledge
  ) -> Int {
    let prefix = database.documentsName + "/"
    let absent = knowledge.serverKeys(of: target).filter { !filter.mightContain(prefix + $0.text) }
    for key in absent { remove(key, from: target, nil, knowledge) }
    return absent.count
  }
}

// MARK: Snapshots

extension WatchAggregator {
  /// Says whether a snapshot may be taken now, and as of when.
  ///
  /// The requests of a new stream may be answered one after the other, with snapshots in between. A
  /// document of those that have caught up would be shown beside older ones of those that have not,
  /// which looks like a state that never was; so all wait for each other.
  ///
  /// - Parameter told: The time of the snapshot that was told just now, if one was.
  mutating func dueSnapshot(_ told: DocumentVersion?) -> DocumentVersion? {
    let time = told ?? heldBack
    heldBack = behind.isEmpty ? nil : time
    return behind.isEmpty ? time : nil
  }

  /// Hands out everything that was gathered, as of one time.
  package mutating func takeEvent(
    at version: DocumentVersion, _ knowledge: some WatchKnowledge
  ) -> DocumentServerEvent {
    var event = DocumentServerEvent(version: version)
    for target in targets.keys.sorted() {
      guard isActive(target, knowledge), let wanted = knowledge.wanted(target) else { continue }
      if let key = wanted.singleDocument { noteAbsence(of: key, target, version, knowledge) }
      guard targets[target]?.hasNews == true else { continue }
      event.targets[target] = targets[target]?.takeDelta()
    }
    let showing = Set(
      targets.keys.filter { target in
        isActive(target, knowledge) && knowledge.wanted(target)?.purpose != .limboResolution
      })
    event.resolvedLimbo = told.keys(mentionedByNoneOf: showing)
    event.documents = told.documents
    event.mismatched = mismatched
    told = ToldDocuments()
    answered = []
    mismatched = [:]
    return event
  }

  /// Concludes that a document does not exist when its own target is complete without it.
  private mutating func noteAbsence(
    of key: DocumentKey, _ target: Int32, _ version: DocumentVersion,
    _ knowledge: some WatchKnowledge
  ) {
    guard targets[target]?.isCurrent == true, !answered.contains(target),
      !knowledge.serverKeys(of: target).contains(key)
    else { return }
    remove(key, from: target, Document(key, .missing, version: version), knowledge)
  }
}

extension WatchTarget {
  /// The document of a target that asks for one document as such.
  var singleDocument: DocumentKey? {
    switch subject {
    case .documents(let keys): keys.count == 1 ? keys[0] : nil
    case .query(let target):
      if case .document(let key) = target.source { key } else { nil }
    }
  }
}
