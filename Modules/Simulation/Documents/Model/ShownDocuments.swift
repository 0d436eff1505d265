import TernCore
import TernDocumentEngine

/// What a device may show of one document, given what is pending there.
///
/// The server's writes are known; what of them a device has is not always: what it never listened
/// to, or has forgotten, it shows as it once was, or as if it had never been.
struct ShownDocument {
  let key: DocumentKey
  /// What the server may have been taken to have, likeliest first.
  let bases: [NaiveDocument]
  /// The batches accepted later than what the device was told of, oldest first.
  let acknowledged: [AcknowledgedBatch]
  /// The batches without an answer, oldest first.
  let pending: [PendingBatch]

  /// How many of the newest answers may have been lost with a cache, or have changed what is stored
  /// and not what is shown.
  private static let doubtful = 8

  /// Whether one of the possible contents passes a test; `nil` is no document.
  func canBe(_ test: (DocumentFields?) -> Bool) -> Bool {
    bases.contains { base in
      let later = acknowledged.filter { $0.version > base.version }
      let old = later.dropLast(Self.doubtful)
      // All answers have come to the cache, or none of the old ones.
      let starts = old.isEmpty ? [base] : [old.reduce(base) { acknowledge($1, $0) }, base]
      return starts.contains { canBe($0, after: later[old.endIndex...], test) }
    }
  }

  private func canBe(
    _ base: NaiveDocument, after answers: ArraySlice<AcknowledgedBatch>,
    _ test: (DocumentFields?) -> Bool
  ) -> Bool {
    var kept = base
    for lost in answers.startIndex...answers.endIndex {
      // What came before a crash may have been kept, and what came right before it lost.
      for start in lost...answers.endIndex {
        var document = kept
        for split in start...answers.endIndex {
          if test(shown(document, answers[split...])) { return true }
          if split < answers.endIndex { document = acknowledge(answers[split], document) }
        }
      }
      if lost < answers.endIndex { kept = acknowledge(answers[lost], kept) }
    }
    return false
  }

  private func shown(
    _ base: NaiveDocument, _ unanswered: ArraySlice<AcknowledgedBatch>
  ) -> DocumentFields? {
    var document = base
    for batch in unanswered.map(\.batch) + pending.map(\.batch) {
      for write in batch.baseMutations + batch.mutations where write.key == key {
        if NaiveWrite.refusal(of: write, on: document) != nil { continue }
        document = NaiveWrite.apply(write, to: document, .device(batch.localWriteTime)).document
      }
    }
    return document.fields
  }

  private func acknowledge(
    _ batch: AcknowledgedBatch, _ document: NaiveDocument
  ) -> NaiveDocument {
    guard document.version < batch.version else { return document }
    var document = document
    for (write, values) in zip(batch.batch.mutations, batch.values) where write.key == key {
      if NaiveWrite.refusal(of: write, on: document) != nil {
        // What was changed is not known here.
        document = .missing
        continue
      }
      document =
        NaiveWrite.apply(write, to: document, .acknowledged(batch.version, values)).document
    }
    document.version = batch.version
    return document
  }
}
