import TernCore

/// `Write` and its results.
extension ProtoWriter {
  mutating func write(_ field: Int, _ mutation: DocumentMutation, _ names: DocumentNames) {
    let mark = begin(field)
    switch mutation.change {
    case .set(let fields): document(1, mutation.key, fields, names)
    case .patch(let fields, let mask):
      document(1, mutation.key, fields, names)
      self.mask(3, mask.paths)
    case .delete: key(2, mutation.key, names)
    case .verify: key(5, mutation.key, names)
    }
    precondition(4, mutation.precondition)
    for transform in mutation.transforms { self.transform(7, transform) }
    end(mark)
  }

  mutating func precondition(_ field: Int, _ precondition: DocumentPrecondition) {
    switch precondition {
    case .none: return
    case .exists(let exists):
      let mark = begin(field)
      putBool(1, exists)
      end(mark)
    case .version(let version):
      let mark = begin(field)
      timestamp(2, version.timestamp)
      end(mark)
    }
  }

  private mutating func transform(_ field: Int, _ item: DocumentFieldTransform) {
    let mark = begin(field)
    string(1, item.path.text)
    switch item.transform {
    case .serverTimestamp: putInt(2, 1)
    case .increment(let number): value(3, number.value)
    case .maximum(let number): value(4, number.value)
    case .minimum(let number): value(5, number.value)
    case .arrayUnion(let values): array(6, values)
    case .arrayRemove(let values): array(7, values)
    }
    end(mark)
  }

  mutating func writeResult(_ field: Int, _ result: DocumentWriteResult) {
    let mark = begin(field)
    if let version = result.version { timestamp(1, version.timestamp) }
    for value in result.transformResults { self.value(2, value) }
    end(mark)
  }
}
