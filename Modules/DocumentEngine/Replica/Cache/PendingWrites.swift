import TernCore

/// The writes no server has answered yet, and the documents as they show them.
///
/// Lives in memory: the durable queue is somebody else's, and what is shown follows from it and
/// from the cached documents. Each user has writes of their own; only the current user's show.
/// Source: documents reference, sections 5.3 and 5.4; Docs/Decisions/0010.
struct PendingWrites: Sendable {
  /// What one batch does to one document.
  private struct Step: Sendable {
    let batch: UInt64
    let time: DocumentTimestamp
    var mutations: [DocumentMutation]
  }

  private var queues: [[UInt8]: [DocumentBatch]] = [:]
  private var steps: [DocumentKey: [Step]] = [:]
  /// The current user.
  private(set) var user: String
  /// The documents that the current user's writes are about, as they are shown.
  private(set) var shown: [DocumentKey: Document] = [:]

  /// Takes over what the queue held at the start. Call ``show(_:over:)`` for each of its keys.
  init(user: String, batches: [DocumentBatch]) {
    self.user = user
    for batch in batches.sorted(by: { $0.id < $1.id }) {
      queues[Array(batch.user.utf8), default: []].append(batch)
    }
    addSteps()
  }

  /// The current user's batches, oldest first.
  var batches: [DocumentBatch] { queues[Array(user.utf8)] ?? [] }

  /// The documents that the current user's writes are about.
  var keys: some Sequence<DocumentKey> { steps.keys }

  /// Whether a write of any user concerns the document, so that it must stay cached.
  func holds(_ key: DocumentKey) -> Bool {
    if steps[key] != nil { return true }
    if queues.count == 1, queues[Array(user.utf8)] != nil { return false }
    return queues.contains { entry in
      entry.value.contains { $0.mutations.contains { $0.key == key } }
    }
  }

  /// Makes another user's writes the ones that show.
  ///
  /// - Returns: The documents that show something else now; call ``show(_:over:)`` for each.
  mutating func switchUser(to user: String) -> Set<DocumentKey> {
    var changed = Set(steps.keys)
    self.user = user
    steps = [:]
    shown = [:]
    addSteps()
    changed.formUnion(steps.keys)
    return changed
  }

  /// Adds a batch at the end of its user's queue.
  ///
  /// - Returns: Whether it is the current user's, and so shows.
  mutating func append(_ batch: DocumentBatch) -> Bool {
    let name = Array(batch.user.utf8)
    queues[name, default: []].append(batch)
    guard name == Array(user.utf8) else { return false }
    addSteps(batch)
    return true
  }

  /// Shows the last batch of a document on top of what was shown before it.
  mutating func showLast(_ key: DocumentKey, over before: Document) -> Document {
    var document = before
    if let last = steps[key]?.last { apply(last, to: &document) }
    shown[key] = document
    return document
  }

  /// Replays all writes to a document.
  ///
  /// - Parameter base: What the server has, as far as it is cached.
  mutating func show(_ key: DocumentKey, over base: Document) -> Document {
    guard let steps = steps[key] else {
      shown[key] = nil
      return base
    }
    var document = base
    for step in steps { apply(step, to: &document) }
    shown[key] = document
    return document
  }

  /// Takes a batch out of its queue. Call ``show(_:over:)`` for each of its keys.
  mutating func remove(_ id: UInt64) -> DocumentBatch? {
    for (name, batches) in queues {
      guard let index = batches.firstIndex(where: { $0.id == id }) else { continue }
      queues[name]?.remove(at: index)
      if batches.count == 1 { queues[name] = nil }
      if name == Array(user.utf8) { removeSteps(of: batches[index]) }
      return batches[index]
    }
    return nil
  }

  /// The batch of an id, of any user.
  func batch(_ id: UInt64) -> DocumentBatch? {
    for batches in queues.values {
      if let found = batches.first(where: { $0.id == id }) { return found }
    }
    return nil
  }

  // MARK: Steps

  private func apply(_ step: Step, to document: inout Document) {
    // What was touched only matters to who stores overlays.
    var touched = DocumentMutation.Touched.everything
    for mutation in step.mutations {
      mutation.applyLocally(to: &document, touched: &touched, at: step.time)
    }
  }

  private mutating func addSteps() {
    for batch in batches { addSteps(batch) }
  }

  private mutating func addSteps(_ batch: DocumentBatch) {
    for mutation in batch.baseMutations + batch.mutations {
      var list = steps.removeValue(forKey: mutation.key) ?? []
      if list.last?.batch == batch.id {
        list[list.count - 1].mutations.append(mutation)
      } else {
        list.append(Step(batch: batch.id, time: batch.localWriteTime, mutations: [mutation]))
      }
      steps[mutation.key] = list
    }
  }

  private mutating func removeSteps(of batch: DocumentBatch) {
    for key in batch.keys {
      steps[key]?.removeAll { $0.batch == batch.id }
      if steps[key]?.isEmpty == true { steps[key] = nil }
    }
  }
}
