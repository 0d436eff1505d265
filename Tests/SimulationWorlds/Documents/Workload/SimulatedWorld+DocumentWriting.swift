import TernClient
import TernCore
import TernDocumentReplica
import TernSync

// What programs write to documents.

extension SimulatedWorld {
  func write(_ run: DocumentRun) {
    let mutations = someBatch(run)
    run.lastBatch = run.machine.write(mutations)
    trace.note("\(run.name) writes \(run.lastBatch) \(mutations.map { words($0) })")
  }

  private func someBatch(_ run: DocumentRun) -> [DocumentMutation] {
    if !books.isEmpty, chance.happens(0.5) {
      return DocumentRulesSpace.batch(&chance, by: run.client.user)
    }
    switch chance.below(17) {
    case 0..<10: return [someWrite(DocumentWorkloadSpace.item(&chance))]
    case 10, 11:
      // Both or neither.
      let fields = DocumentFields(DocumentWorkloadSpace.fields(&chance))
      return DocumentWorkloadSpace.pair.map { DocumentMutation($0, .set(fields)) }
    case 12, 13: return (0..<3).map { _ in someWrite(DocumentWorkloadSpace.item(&chance)) }
    case 14:
      let key = DocumentWorkloadSpace.item(&chance)
      return [someWrite(key), someWrite(key)]
    case 15: return [someWrite(DocumentWorkloadSpace.diary(&chance))]
    default:
      let lock = DocumentMutation(
        DocumentWorkloadSpace.key("locked/door"), .set(DocumentFields(["n": 1])))
      if chance.happens(0.5) { return [lock] }
      return [someWrite(DocumentWorkloadSpace.item(&chance)), lock]
    }
  }

  private func someWrite(_ key: DocumentKey) -> DocumentMutation {
    let fields = DocumentWorkloadSpace.fields(&chance)
    switch chance.below(16) {
    case 0, 1, 2: return DocumentMutation(key, .set(DocumentFields(fields)))
    case 3: return DocumentMutation(key, .set(DocumentFields(fields)), transforms: [transform()])
    case 4:
      return DocumentMutation(key, .set(DocumentFields(fields)), precondition: .exists(false))
    case 5, 6: return merge(key, .none, [])
    case 7, 8: return merge(key, .exists(true), [])
    case 9:
      // The field goes.
      let mask = DocumentFieldMask([DocumentWorkloadSpace.field(&chance)])
      return DocumentMutation(
        key, .patch(.empty, mask: mask), precondition: chance.happens(0.5) ? .exists(true) : .none)
    case 10, 11:
      return DocumentMutation(
        key, .patch(.empty, mask: .empty),
        precondition: chance.happens(0.5) ? .exists(true) : .none,
        transforms: [transform()])
    case 12: return merge(key, .none, [transform()])
    case 13: return increment(DocumentWorkloadSpace.key("counters/x"))
    default: return .delete(key)
    }
  }

  private func merge(
    _ key: DocumentKey, _ precondition: DocumentPrecondition, _ transforms: [DocumentFieldTransform]
  ) -> DocumentMutation {
    let path = DocumentWorkloadSpace.field(&chance)
    var data = DocumentMap()
    data[path] = DocumentWorkloadSpace.scalar(&chance)
    return DocumentMutation(
      key, .patch(DocumentFields(data), mask: DocumentFieldMask([path])),
      precondition: precondition, transforms: transforms)
  }

  private func increment(_ key: DocumentKey) -> DocumentMutation {
    let number = DocumentNumber.integer(Int64(1 + chance.below(3)))
    return DocumentMutation(
      key, .patch(.empty, mask: .empty),
      transforms: [DocumentFieldTransform(DocumentWorkloadSpace.path("n"), .increment(number))])
  }

  private func transform() -> DocumentFieldTransform {
    let number = DocumentNumber.integer(Int64(chance.below(8)) - 2)
    let values = (0...chance.below(2)).map { _ in DocumentWorkloadSpace.scalar(&chance) }
    let path = { DocumentFieldPath(unchecked: $0) }
    switch chance.below(8) {
    case 0: return DocumentFieldTransform(path(["s"]), .serverTimestamp)
    case 1: return DocumentFieldTransform(path(["list"]), .arrayRemove(values))
    case 2, 3: return DocumentFieldTransform(path(["list"]), .arrayUnion(values))
    case 4: return DocumentFieldTransform(path(["more", "deep"]), .increment(number))
    case 5: return DocumentFieldTransform(path(["n"]), .maximum(number))
    case 6: return DocumentFieldTransform(path(["n"]), .minimum(number))
    default: return DocumentFieldTransform(path(["n"]), .increment(number))
    }
  }

  func answerRejection(_ run: DocumentRun) {
    guard let rejected = run.machine.queueStatus.rejected.first else { return }
    trace.note("\(run.name) answers the rejection of row \(rejected.id)")
    switch chance.below(3) {
    case 0: run.lastBatch = run.machine.write(rejected.mutations, insteadOf: rejected.id)
    case 1:
      let edited = [someWrite(DocumentWorkloadSpace.item(&chance))]
      run.lastBatch = run.machine.write(edited, insteadOf: rejected.id)
    default: run.machine.discard(row: rejected.id)
    }
  }
}

/// A write in a few words.
func words(_ write: DocumentMutation) -> String {
  var words: String
  switch write.change {
  case .set(let fields): words = "set \(write.key) \(TernSimulation.words(fields))"
  case .patch(let fields, let mask):
    let paths = mask.paths.map { $0.names.joined(separator: ".") }
    words = "patch \(write.key) \(paths) \(TernSimulation.words(fields))"
  case .delete: words = "delete \(write.key)"
  case .verify: words = "verify \(write.key)"
  }
  if write.precondition != .none { words += " if \(write.precondition)" }
  for item in write.transforms {
    words += " \(item.path.names.joined(separator: ".")) \(item.transform)"
  }
  return words
}
