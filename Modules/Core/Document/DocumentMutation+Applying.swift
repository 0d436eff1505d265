extension DocumentMutation {
  /// The fields that writes of this device have changed in one document.
  package enum Touched: Hashable, Sendable {
    /// These, relative to what the server has.
    case fields(DocumentFieldMask)
    /// All: the server's contents no longer show through.
    case everything
  }

  /// Applies the write as the device that made it shows it, before any server answered.
  ///
  /// A write whose precondition does not hold changes nothing.
  /// - Parameters:
  ///   - document: The document as it is shown so far.
  ///   - touched: Gathers the fields that differ from the server's.
  ///   - time: The device's clock when the write was made.
  package func applyLocally(
    to document: inout Document, touched: inout Touched, at time: DocumentTimestamp
  ) {
    var replay = DocumentReplay(over: document)
    replay.apply(self, touched: &touched, at: time)
    document = replay.finished()
  }

  /// Applies the write as the server that commits it does.
  ///
  /// - Parameters:
  ///   - document: The document as it is in the same transaction, earlier writes included.
  ///   - version: The version of the commit.
  ///   - checksSize: Whether a document that is too large is a conflict.
  /// - Returns: The document afterwards, with its old version when its contents stay the same,
  ///   and one result for each transform: null for those of arrays.
  /// - Throws: ``DocumentConflict``, and then nothing of the commit may be applied.
  package func commit(
    over document: Document, at version: DocumentVersion, checksSize: Bool = true
  ) throws(DocumentConflict) -> (document: Document, results: [DocumentValue]) {
    if let conflict = precondition.conflict(with: document) { throw conflict }
    switch change {
    case .verify: return (document, [])
    case .delete: return (Document(key, .missing, version: version), [])
    case .set, .patch: break
    }
    let (fields, results) = contents(over: document, at: .commit(version))
    if document.fields == fields { return (document, results) }
    let created = document.isFound ? document.created : version
    let next = Document(key, .found(fields), version: version, created: created)
    if checksSize {
      do { try next.checkSize() } catch { throw .invalid(key, error) }
    }
    return (next, results)
  }

  /// Returns the contents of the document after the write, assuming that the precondition holds.
  func contents(
    over document: Document, at moment: DocumentMoment
  ) -> (fields: DocumentFields, results: [DocumentValue]) {
    let (map, results) = contents(over: document.fields?.map ?? DocumentMap(), at: moment)
    return (DocumentFields(map), results)
  }

  /// Returns the fields after the write.
  func contents(
    over before: DocumentMap, at moment: DocumentMoment
  ) -> (map: DocumentMap, results: [DocumentValue]) {
    // A set lays its data down first, and transforms build on that, as they do on the server;
    // only what a pending timestamp replaces is what was shown before.
    let map = laidDown(over: before)
    if transforms.isEmpty { return (map, []) }
    var fields = TransformedFields(map, replacing: before)
    let results = transforms.map { fields.apply($0, at: moment) }
    return (fields.finished(), results)
  }

  /// The fields after the change and before the transforms.
  func laidDown(over before: DocumentMap) -> DocumentMap {
    switch change {
    case .set(let fields): return fields.map
    case .patch(let fields, let mask):
      var map = before
      mask.apply(fields.map, to: &map)
      return map
    case .delete, .verify: return before
    }
  }
}
