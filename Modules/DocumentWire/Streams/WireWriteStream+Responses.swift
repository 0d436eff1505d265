import TernCore

extension WireWriteStream {
  /// Reads a `WriteResponse`.
  ///
  /// Reads a message of the server, or of another server that knows nothing of numbers.
  ///
  /// - Throws: ``DocumentWireError``; the stream is of no use any more.
  static func response(
    _ reader: inout ProtoReader
  ) throws(DocumentWireError) -> DocumentWriteResponse {
    var parts = WriteResponseParts()
    while let field = try reader.next() {
      switch field {
      case 1: parts.id = try reader.string()
      case 2: parts.token = try reader.data()
      case 3: parts.results.append(try WireWrite.result(&reader))
      case 4: parts.version = try reader.version()
      case DocumentWireField.outcome:
        var message = try reader.message()
        parts.outcome = try outcome(&message)
      case DocumentWireField.outcomes:
        var message = try reader.message()
        parts.outcomes = try outcomes(&message)
      case DocumentWireField.greeting:
        var message = try reader.message()
        parts.lastSequence = try greeting(&message)
      default: try reader.skip()
      }
    }
    return DocumentWriteResponse(parts.content, token: parts.token)
  }

  /// Reads the greeting of a server that knows numbers: the last one it has.
  ///
  /// Field: 1 last sequence, left out for 0. The message itself is always there, so that a server
  /// that has nothing of the stream differs from one that numbers nothing.
  private static func greeting(_ reader: inout ProtoReader) throws(DocumentWireError) -> UInt64 {
    var last: UInt64 = 0
    while let field = try reader.next() {
      if field == 1 { last = try reader.varint() } else { try reader.skip() }
    }
    return last
  }

  /// Reads the outcomes that were asked for.
  ///
  /// Field: 1 outcome, repeated, whole. Outcomes that the server has forgotten are missing.
  private static func outcomes(
    _ reader: inout ProtoReader
  ) throws(DocumentWireError) -> [DocumentWriteOutcome] {
    var outcomes: [DocumentWriteOutcome] = []
    while let field = try reader.next() {
      if field == 1 {
        var message = try reader.message()
        outcomes.append(try outcome(&message))
      } else {
        try reader.skip()
      }
    }
    return outcomes
  }

  /// Reads the outcome of a numbered batch.
  ///
  /// Fields: 1 sequence, 2 rejection, 3 commit time, 4 results, 5 the number that was expected. A
  /// rejection and a gap exclude the others; without both the batch is committed.
  private static func outcome(
    _ reader: inout ProtoReader
  ) throws(DocumentWireError) -> DocumentWriteOutcome {
    var (sequence, expected): (UInt64, UInt64) = (0, 0)
    var refusal: DocumentStatus?
    var version = DocumentVersion.none
    var results: [DocumentWriteResult] = []
    while let field = try reader.next() {
      switch field {
      case 1: sequence = try reader.varint()
      case 2: refusal = try reader.status()
      case 3: version = try reader.version()
      case 4: results.append(try WireWrite.result(&reader))
      case 5: expected = try reader.varint()
      default: try reader.skip()
      }
    }
    if let refusal { return DocumentWriteOutcome(sequence, .rejected(refusal)) }
    if expected > 0 { return DocumentWriteOutcome(sequence, .gap(expected: expected)) }
    return DocumentWriteOutcome(sequence, .committed(version, results))
  }
}

/// The fields of a `WriteResponse`.
///
/// Fields of the standard protocol and of our own lie side by side, and come in any order.
private struct WriteResponseParts {
  /// The id of the stream, in the handshake.
  var id = ""
  /// The token to send along from now on.
  var token: [UInt8] = []
  /// The results of the batch, one for each write.
  var results: [DocumentWriteResult] = []
  /// The commit time.
  var version = DocumentVersion.none
  /// The outcome of a numbered batch, without results when it is committed.
  var outcome: DocumentWriteOutcome?
  /// The outcomes that were asked for; an empty list when none is kept.
  var outcomes: [DocumentWriteOutcome]?
  /// The last sequence of the stream; `nil` from a server that numbers nothing.
  var lastSequence: UInt64?

  /// The kind of the message, most specific first. What is nothing else is a batch without a
  /// number.
  var content: DocumentWriteResponse.Content {
    if let outcomes { return .outcomes(outcomes) }
    if var outcome {
      // The results of a batch just applied are in the fields of the standard protocol.
      if case .committed = outcome.verdict { outcome.verdict = .committed(version, results) }
      return .outcome(outcome)
    }
    if lastSequence != nil || !id.isEmpty {
      return .handshake(id: id, lastSequence: lastSequence)
    }
    return .committed(version, results)
  }
}

extension WireWriteStream {
  /// Writes a `WriteResponse`.
  static func response(_ response: DocumentWriteResponse, to writer: inout ProtoWriter) {
    writer.data(2, response.token)
    switch response.content {
    case .handshake(let id, let last):
      writer.string(1, id)
      if let last {
        let mark = writer.begin(DocumentWireField.greeting)
        writer.int(1, last)
        writer.end(mark)
      }
    case .committed(let version, let results): committed(3, 4, version, results, to: &writer)
    case .outcome(let outcome):
      if case .committed(let version, let results) = outcome.verdict {
        committed(3, 4, version, results, to: &writer)
      }
      Self.outcome(DocumentWireField.outcome, outcome, isWhole: false, to: &writer)
    case .outcomes(let outcomes):
      let mark = writer.begin(DocumentWireField.outcomes)
      for outcome in outcomes { Self.outcome(1, outcome, isWhole: true, to: &writer) }
      writer.end(mark)
    }
  }

  /// Writes results and commit time, whose field numbers differ between the standard answer and an
  /// outcome.
  private static func committed(
    _ resultField: Int, _ versionField: Int, _ version: DocumentVersion,
    _ results: [DocumentWriteResult], to writer: inout ProtoWriter
  ) {
    for result in results { WireWrite.result(resultField, result, to: &writer) }
    writer.timestamp(versionField, version.timestamp)
  }

  /// Writes a `WriteOutcome`.
  ///
  /// - Parameter isWhole: True to put results and commit time into it. The answer to a batch has
  ///   them in the standard fields, and would otherwise carry them twice.
  private static func outcome(
    _ field: Int, _ outcome: DocumentWriteOutcome, isWhole: Bool, to writer: inout ProtoWriter
  ) {
    let mark = writer.begin(field)
    writer.int(1, outcome.sequence)
    switch outcome.verdict {
    case .committed(let version, let results):
      if isWhole { committed(4, 3, version, results, to: &writer) }
    case .rejected(let refusal): writer.status(2, refusal)
    case .gap(let expected): writer.int(5, expected)
    }
    writer.end(mark)
  }
}
