import TernCore

/// `WriteRequest` and `WriteResponse`, with the fields of our own.
/// Source: Docs/Formats/document-wire.md.
///
/// The fields of `WriteRequest`: 1 database, 2 stream id (skipped), 3 writes, 4 token, 7001 header,
/// 7002 question for outcomes. Those of `WriteResponse`: 1 stream id, 2 token, 3 results, 4 commit
/// time, 7001 outcome, 7002 outcomes, 7003 greeting.
enum WireWriteStream {
  /// Reads a `WriteRequest`. Without writes and token it is the handshake.
  ///
  /// - Parameters:
  ///   - reader: Stands at the beginning of the message.
  ///   - names: The database of the stream. The handshake settles it, and later messages may name
  ///     it again.
  /// - Throws: ``DocumentWireError``. When the message has a readable number, the caller rejects
  ///   the batch under it; see ``DocumentRequest/unreadWrite(in:)``.
  static func request(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> DocumentWriteRequest {
    var token: [UInt8] = []
    var writes: [DocumentMutation] = []
    var mark: DocumentWriteHeader?
    var outcomes: ClosedRange<UInt64>?
    while let field = try reader.next() {
      switch field {
      case 1: try names.readDatabase(try reader.string())
      case 3:
        var message = try reader.message()
        writes.append(try WireWrite.mutation(&message, &names))
      case 4: token = try reader.data()
      case DocumentWireField.mark: mark = try header(&reader)
      case DocumentWireField.outcomes: outcomes = try outcomeRange(&reader)
      default: try reader.skip()
      }
    }
    if let outcomes { return DocumentWriteRequest(.outcomes(outcomes), token: token) }
    // An empty batch with a token is the goodbye of stock clients, and not a second handshake.
    if writes.isEmpty, token.isEmpty {
      return DocumentWriteRequest(.handshake(stream: mark?.stream))
    }
    return DocumentWriteRequest(.writes(writes, mark), token: token)
  }

  /// Reads the header of a numbered batch, a field of our own.
  ///
  /// Fields: 1 writer id in 16 bytes, most significant first, 2 sequence, 3 acknowledged. A header
  /// without a sequence has 0, which is the number of no batch; handshakes have it.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` for an id of another length.
  static func header(_ reader: inout ProtoReader) throws(DocumentWireError) -> DocumentWriteHeader {
    var mark = DocumentWriteHeader(sequence: 0)
    var message = try reader.message()
    while let field = try message.next() {
      switch field {
      case 1:
        let bytes = try message.data()
        guard bytes.count == 16 else { throw .member("a stream of writes has 16 bytes") }
        mark.stream = bytes.reduce(0) { $0 << 8 | UInt128($1) }
      case 2: mark.sequence = try message.varint()
      case 3: mark.acknowledged = try message.varint()
      default: try message.skip()
      }
    }
    return mark
  }

  /// Reads the span of numbers whose outcomes are asked for, a field of our own.
  ///
  /// Fields: 1 first, 2 last. The server clamps the range to what it keeps, so its size is no risk.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` when the first is above the last.
  private static func outcomeRange(
    _ reader: inout ProtoReader
  ) throws(DocumentWireError) -> ClosedRange<UInt64> {
    var (first, last): (UInt64, UInt64) = (0, 0)
    var message = try reader.message()
    while let field = try message.next() {
      switch field {
      case 1: first = try message.varint()
      case 2: last = try message.varint()
      default: try message.skip()
      }
    }
    guard first <= last else { throw .member("outcomes are asked for from first to last") }
    return first...last
  }
}

/// A numbered batch that cannot be read: enough of it to refuse it for good.
///
/// The server stores the rejection under the number. Otherwise the client would send the same batch
/// again on each connection, and the batches behind it would never be next.
package struct UnreadDocumentWrite: Hashable, Sendable {
  /// Its number.
  package let mark: DocumentWriteHeader
  /// Tells it from another batch of that number: FNV-1a over its writes as they were sent.
  package let payloadHash: UInt64
}

extension DocumentRequest {
  /// The number of a batch in a message to a write stream whose writes are not in order.
  ///
  /// The bytes are read as far as fields go; the content of writes is hashed and not looked at.
  ///
  /// - Parameter bytes: The message as it arrived.
  /// - Returns: `nil` when that cannot be told.
  package static func unreadWrite(in bytes: [UInt8]) -> UnreadDocumentWrite? {
    var reader = ProtoReader(bytes)
    var mark: DocumentWriteHeader?
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    do throws(DocumentWireError) {
      while let field = try reader.next() {
        switch field {
        // The hash continues over all writes of the message, in their order.
        case 3:
          for index in try reader.range() {
            hash = (hash ^ UInt64(bytes[index])) &* 0x0000_0100_0000_01B3
          }
        case DocumentWireField.mark: mark = try WireWriteStream.header(&reader)
        default: try reader.skip()
        }
      }
    } catch {
      return nil
    }
    return mark.map { UnreadDocumentWrite(mark: $0, payloadHash: hash) }
  }
}

extension WireWriteStream {
  /// Writes a `WriteRequest`.
  ///
  /// - Parameters:
  ///   - names: The database; only the handshake needs it, but every message names it.
  static func request(
    _ request: DocumentWriteRequest, _ names: DocumentNames, to writer: inout ProtoWriter
  ) {
    writer.database(1, names)
    switch request.content {
    case .handshake(let stream):
      if stream != nil { header(DocumentWriteHeader(stream: stream, sequence: 0), to: &writer) }
    case .writes(let writes, let mark):
      for write in writes { WireWrite.mutation(3, write, names, to: &writer) }
      if let mark { Self.header(mark, to: &writer) }
    case .outcomes(let range):
      let message = writer.begin(DocumentWireField.outcomes)
      writer.int(1, range.lowerBound)
      writer.int(2, range.upperBound)
      writer.end(message)
    }
    writer.data(4, request.token)
  }

  /// Writes the header of a numbered batch or of a handshake.
  static func header(_ mark: DocumentWriteHeader, to writer: inout ProtoWriter) {
    let message = writer.begin(DocumentWireField.mark)
    if let stream = mark.stream {
      writer.data(1, (0..<16).map { UInt8(truncatingIfNeeded: stream >> UInt128(120 - 8 * $0)) })
    }
    writer.int(2, mark.sequence)
    writer.int(3, mark.acknowledged)
    writer.end(message)
  }
}

/// The numbers of our own fields, which other servers skip. Source: Docs/Formats/document-wire.md.
///
/// They lie far above those of the protocol, so that new fields there do not collide.
enum DocumentWireField {
  /// ``DocumentWriteHeader`` in a `WriteRequest` or a `CommitRequest`.
  static let mark = 7_001
  /// One ``DocumentWriteOutcome`` in a `WriteResponse`, another message than that of ``mark``.
  static let outcome = 7_001
  /// The range in a `WriteRequest`, and the list in a `WriteResponse`.
  static let outcomes = 7_002
  /// The last sequence that the server has, in the first `WriteResponse`.
  static let greeting = 7_003
}
