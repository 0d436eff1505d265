import TernCore
import TernQuery

/// ``WatchChange`` as `ListenResponse`.
extension ProtoWriter {
  mutating func watchChange(_ change: WatchChange, _ names: DocumentNames) {
    switch change {
    case .target(let change): targetChange(change)
    case .changed(let document, let targets, let removed):
      let mark = begin(3)
      self.document(1, document, names)
      int32s(5, targets)
      int32s(6, removed)
      end(mark)
    case .deleted(let key, let time, let removed):
      let mark = begin(4)
      self.key(1, key, names)
      version(4, time)
      int32s(6, removed)
      end(mark)
    case .removed(let key, let time, let removed):
      let mark = begin(6)
      self.key(1, key, names)
      int32s(2, removed)
      if let time { version(4, time) }
      end(mark)
    case .filter(let target, let count, let unchanged):
      let mark = begin(5)
      int(1, target)
      int(2, count)
      if let unchanged { bloomFilter(3, unchanged) }
      end(mark)
    }
  }

  private mutating func targetChange(_ change: WatchTargetChange) {
    let mark = begin(2)
    switch change.kind {
    case .none: break
    case .added: putInt(1, 1)
    case .removed(let cause):
      putInt(1, 2)
      if let cause { status(3, cause) }
    case .current: putInt(1, 3)
    case .reset: putInt(1, 4)
    }
    int32s(2, change.targets)
    data(4, change.resumeToken)
    if let time = change.readTime { timestamp(6, time.timestamp) }
    end(mark)
  }

  private mutating func bloomFilter(_ field: Int, _ filter: BloomFilter) {
    let mark = begin(field)
    let bits = begin(1)
    data(1, filter.bitmap)
    int(2, filter.padding)
    end(bits)
    int(2, filter.hashCount)
    end(mark)
  }

  /// A `google.rpc.Status`; `nil` says that all is well.
  mutating func status(_ field: Int, _ status: DocumentStatus?) {
    let mark = begin(field)
    if let status {
      int(1, status.code.rawValue)
      string(2, status.message)
    }
    end(mark)
  }
}
