extension DocumentMutation {
  /// The one write that stands for all pending writes to a document.
  ///
  /// Applied to what the server has, it gives what the device shows; reading a document needs
  /// no replay of the queue. Source: documents reference, section 5.4.
  ///
  /// - Parameters:
  ///   - document: What the device shows, with all pending writes.
  ///   - touched: What those writes touched.
  /// - Returns: `nil` when the writes changed nothing.
  package static func overlay(showing document: Document, touched: Touched) -> DocumentMutation? {
    guard document.localWrites == .pending else { return nil }
    guard let fields = document.fields else { return DocumentMutation(document.key, .delete) }
    // Nothing of the server's contents shows through: the overlay replaces the document.
    guard case .fields(let mask) = touched else {
      return DocumentMutation(document.key, .set(fields))
    }
    let map = fields.map
    var paths: [DocumentFieldPath] = []
    for path in mask.paths {
      // A nested field that is gone may have taken the map around it along: name that instead.
      let missing = map[path] == nil && path.names.count > 1
      paths.append(missing ? path.parent ?? path : path)
    }
    let widened = DocumentFieldMask(paths)
    var data = DocumentMap()
    for path in widened.paths { if let value = map[path] { data[path] = value } }
    return DocumentMutation(document.key, .patch(DocumentFields(data), mask: widened))
  }

  /// Replays pending writes, oldest first.
  ///
  /// - Parameters:
  ///   - writes: Each write and the time it was made.
  ///   - document: What the server has, as far as it is cached.
  /// - Returns: What the device shows, and the overlay that shows it the next time.
  package static func replay(
    _ writes: some Sequence<(mutation: DocumentMutation, time: DocumentTimestamp)>,
    over document: Document
  ) -> (document: Document, overlay: DocumentMutation?) {
    var replay = DocumentReplay(over: document)
    // Nothing of a document that was never heard of can show through.
    var touched: Touched =
      document.state == .invalid ? .everything : .fields(.empty)
    for write in writes {
      replay.apply(write.mutation, touched: &touched, at: write.time)
    }
    let shown = replay.finished()
    return (shown, overlay(showing: shown, touched: touched))
  }
}
