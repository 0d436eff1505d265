package import TernCore

extension DocumentAuthority {
  /// Checks writes that are to be made one by one, each a commit of its own.
  ///
  /// - Throws: INVALID_ARGUMENT when a document is written twice. Source: documents reference,
  ///   section 3.6.
  package static func checkBatch(_ mutations: [DocumentMutation]) throws(DocumentStatus) {
    var keys: Set<DocumentKey> = []
    for mutation in mutations {
      if !keys.insert(mutation.key).inserted {
        throw DocumentStatus(
          .invalidArgument,
          "the same document cannot be written more than once in a single request")
      }
      if case .verify = mutation.change {
        throw DocumentStatus(.invalidArgument, "A batch has nothing to verify: \(mutation.key)")
      }
    }
  }
}
