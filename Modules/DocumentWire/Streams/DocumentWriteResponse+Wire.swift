import TernCore

extension ProtoReader {
  mutating func writeResponse() throws(DocumentWireError) -> DocumentWriteResponse {
    var parts = WriteResponseParts()
    while let field = try next() {
      switch field {
      case 1: parts.id = try string()
      case 2: parts.token = try data()
      case 3: parts.results.append(try writeResult())
      case 4: parts.version = try version()
      case DocumentWireField.outcome:
        var message = try message()
        parts.outcome = try message.outcome()
      case DocumentWireField.outcomes:
        var message = try message()
        parts.outcomes = try message.outcomes()
      case DocumentWireField.greeting:
        var message = try message()
        parts.lastSequence = try message.greeting()
      default: try skip()
      }
    }
    return DocumentWriteResponse(parts.content, token: parts.token)
  }

  private mutating func greeting() throws(DocumentWireError) -> UInt64 {
    var last: UInt64 = 0
    while let field = try next() {
      if field == 1 { last = try varint() } else { try skip() }
    }
    return last
  }

  private mutating func outcomes() throws(DocumentWireError) -> [DocumentWriteOutcome] {
    var outcomes: [DocumentWriteOutcome] = []
    while let field = try next() {
      if field == 1 {
        var message = try message()
        outcomes.append(try message.outcome())
      } else {
        try skip()
      }
    }
    return outcomes
  }

  private mutating func outcome() throws(DocumentWireError) -> DocumentWriteOutcome {
    var (sequence, expected): (UInt64, UInt64) = (0, 0)
    var refusal: DocumentStatus?
    var version = DocumentVersion.none
    var results: [DocumentWriteResult] = []
    while let field = try next() {
      switch field {
      case 1: sequence = try varint()
      case 2: refusal = try status()
      case 3: version = try self.version()
      case 4: results.append(try writeResult())
      case 5: expected = try varint()
      default: try skip()
      }
    }
    if let refusal { return DocumentWriteOutcome(sequence, .rejected(refusal)) }
    if expected > 0 { return DocumentWriteOutcome(sequence, .gap(expected: expected)) }
    return DocumentWriteOutcome(sequence, .committed(version, results))
  }
}

/// The fields of a `WriteResponse`.
private struct WriteResponseParts {
  var id = ""
  var token: [UInt8] = []
  var results: [DocumentWriteResult] = []
  var version = DocumentVersion.none
  var outcome: DocumentWriteOutcome?
  var outcomes: [DocumentWriteOutcome]?
  var lastSequence: UInt64?

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

extension ProtoWriter {
  mutating func writeResponse(_ response: DocumentWriteResponse) {
    data(2, response.token)
    switch response.content {
    case .handshake(let id, let last):
      string(1, id)
      if let last {
        let mark = begin(DocumentWireField.greeting)
        int(1, last)
        end(mark)
      }
    case .committed(let version, let results): committed(3, 4, version, results)
    case .outcome(let outcome):
      if case .committed(let version, let results) = outcome.verdict {
        committed(3, 4, version, results)
      }
      self.outcome(DocumentWireField.outcome, outcome, isWhole: false)
    case .outcomes(let outcomes):
      let mark = begin(DocumentWireField.outcomes)
      for outcome in outcomes { self.outcome(1, outcome, isWhole: true) }
      end(mark)
    }
  }

  private mutating func committed(
    _ resultField: Int, _ versionField: Int, _ version: DocumentVersion,
    _ results: [DocumentWriteResult]
  ) {
    for result in results { writeResult(resultField, result) }
    timestamp(versionField, version.timestamp)
  }

  private mutating func outcome(_ field: Int, _ outcome: DocumentWriteOutcome, isWhole: Bool) {
    let mark = begin(field)
    int(1, outcome.sequence)
    switch outcome.verdict {
    case .committed(let version, let results):
      if isWhole { committed(4, 3, version, results) }
    case .rejected(let refusal): status(2, refusal)
    case .gap(let expected): int(5, expected)
    }
    end(mark)
  }
}
