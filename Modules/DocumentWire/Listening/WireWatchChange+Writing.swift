import TernCore
import TernQuery

/// ``WatchChange`` as `ListenResponse`.
///
/// The server encodes a document once and wraps it for each target by
/// ``DocumentResponse/changed(_:targets:removed:)``; this is the way for all other messages, and
/// for documents that have one recipient.
extension WireWatchChange {
  /// Writes the one field of a `ListenResponse`.
  ///
  /// - Parameters:
  ///   - names: The database of the stream. A target change names no document and needs none.
  ///   - writer: At the beginning of the message.
  static func write(_ change: WatchChange, _ names: DocumentNames, to writer: inout ProtoWriter) {
    switch change {
    case .target(let change): targetChange(change, to: &writer)
    case .changed(let document, let targets, let removed):
      let mark = writer.begin(3)
      writer.document(1, document, names)
      writer.int32s(5, targets)
      writer.int32s(6, removed)
      writer.end(mark)
    case .deleted(let key, let time, let removed):
      let mark = writer.begin(4)
      writer.key(1, key, names)
      writer.version(4, time)
      writer.int32s(6, removed)
      writer.end(mark)
    case .removed(let key, let time, let removed):
      let mark = writer.begin(6)
      writer.key(1, key, names)
      // The two messages number the same field differently: 6 in a deletion, 2 in a removal.
      writer.int32s(2, removed)
      if let time { writer.version(4, time) }
      writer.end(mark)
    case .filter(let target, let count, let unchanged):
      let mark = writer.begin(5)
      writer.int(1, target)
      writer.int(2, count)
      if let unchanged { bloomFilter(3, unchanged, to: &writer) }
      writer.end(mark)
    }
  }

  /// Writes a `TargetChange`. NO_CHANGE is the default of the kind and is left out, as proto3 does.
  private static func targetChange(_ change: WatchTargetChange, to writer: inout ProtoWriter) {
    let mark = writer.begin(2)
    switch change.kind {
    case .none: break
    case .added: writer.putInt(1, 1)
    case .removed(let cause):
      writer.putInt(1, 2)
      if let cause { writer.status(3, cause) }
    case .current: writer.putInt(1, 3)
    case .reset: writer.putInt(1, 4)
    }
    writer.int32s(2, change.targets)
    writer.data(4, change.resumeToken)
    if let time = change.readTime { writer.timestamp(6, time.timestamp) }
    writer.end(mark)
  }

  /// Writes a `BloomFilter`, also one without a bitmap: it says that the server does not name the
  /// documents.
  private static func bloomFilter(
    _ field: Int, _ filter: BloomFilter, to writer: inout ProtoWriter
  ) {
    let mark = writer.begin(field)
    let bits = writer.begin(1)
    writer.data(1, filter.bitmap)
    writer.int(2, filter.padding)
    writer.end(bits)
    writer.int(2, filter.hashCount)
    writer.end(mark)
  }
}

extension ProtoWriter {
  /// A `google.rpc.Status`; `nil` says that all is well.
  ///
  /// The message is present in either case, because a list of statuses has one element for each
  /// write.
  mutating func status(_ field: Int, _ status: DocumentStatus?) {
    let mark = begin(field)
    if let status {
      int(1, status.code.rawValue)
      string(2, status.message)
    }
    end(mark)
  }
}
