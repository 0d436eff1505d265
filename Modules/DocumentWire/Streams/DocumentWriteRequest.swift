package import TernCore

/// A message to a write stream. Source: documents reference, section 6.5, and
/// Docs/Formats/document-wire.md for what is ours.
///
/// The life of a stream: one ``Content/handshake(stream:)``, then any number of batches and
/// questions for outcomes. The server answers each batch that is not empty, in order, and sends a
/// new token with each answer.
package struct DocumentWriteRequest: Hashable, Sendable {
  package enum Content: Hashable, Sendable {
    /// The first message. A client that names its stream of writes understands refusals and
    /// outcomes in the stream; others learn of a refusal by its end.
    case handshake(stream: UInt128?)
    /// A batch that is applied as a whole; empty to say goodbye.
    case writes([DocumentMutation], DocumentWriteHeader?)
    /// A question for the outcomes of these.
    case outcomes(ClosedRange<UInt64>)
  }

  package var content: Content
  /// The newest token the server has sent; empty in a handshake.
  ///
  /// The server of this package accepts any token: the outcomes of numbered batches make it
  /// redundant.
  package var token: [UInt8]

  package init(_ content: Content, token: [UInt8] = []) {
    self.content = content
    self.token = token
  }
}

/// The idempotency data of our clients for a batch of writes.
///
/// Writer id and sequence number together are the idempotency key of the batch. The server compares
/// the content of a repetition by a hash and rejects other content under a used number.
package struct DocumentWriteHeader: Hashable, Sendable {
  /// The stream of writes it belongs to; `nil` for that of the handshake.
  package var stream: UInt128?
  /// Its number in the stream, 1 and up, without gaps.
  package var sequence: UInt64
  /// All outcomes up to this number may be forgotten.
  package var acknowledged: UInt64

  package init(stream: UInt128? = nil, sequence: UInt64, acknowledged: UInt64 = 0) {
    self.stream = stream
    self.sequence = sequence
    self.acknowledged = acknowledged
  }
}

/// The outcome of one batch.
///
/// Outcomes come in the answer to the batch, or later on request. A client that has one takes the
/// batch from its queue.
package struct DocumentWriteOutcome: Hashable, Sendable {
  package enum Verdict: Hashable, Sendable {
    /// It is applied; one result for each write.
    case committed(DocumentVersion, [DocumentWriteResult])
    /// It is rejected for good, and nothing of it is applied.
    case rejected(DocumentStatus)
    /// Its number is not the next one, which is this; nothing is recorded.
    case gap(expected: UInt64)
  }

  /// The number of the batch in its stream.
  package var sequence: UInt64
  /// The result of the batch.
  package var verdict: Verdict

  package init(_ sequence: UInt64, _ verdict: Verdict) {
    self.sequence = sequence
    self.verdict = verdict
  }
}

/// A message of a write stream to the client.
///
/// A stock client gets ``Content/handshake(id:lastSequence:)`` and ``Content/committed(_:_:)``
/// alone, because it sends no numbers.
package struct DocumentWriteResponse: Hashable, Sendable {
  package enum Content: Hashable, Sendable {
    /// The stream is open; the last number of the client's stream of writes that the server
    /// has, `nil` for a client that named none.
    case handshake(id: String, lastSequence: UInt64?)
    /// A batch without a number is applied.
    case committed(DocumentVersion, [DocumentWriteResult])
    /// A batch with a number was looked at.
    case outcome(DocumentWriteOutcome)
    /// Those of the outcomes asked for that are still known.
    case outcomes([DocumentWriteOutcome])
  }

  package var content: Content
  /// To be sent along from now on.
  package var token: [UInt8]

  package init(_ content: Content, token: [UInt8]) {
    self.content = content
    self.token = token
  }
}
