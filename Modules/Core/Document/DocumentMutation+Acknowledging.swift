extension DocumentMutation {
  /// Applies the write to what is cached of the server, once the server has accepted it.
  ///
  /// - Parameters:
  ///   - document: The cached document; one that is not older than the answer stays as it is.
  ///   - version: The version the server named.
  ///   - results: What the server made of each transform, in order; `nil`, or too few, where it
  ///     leaves that to us, as it does for arrays.
  package func acknowledge(
    over document: inout Document, version: DocumentVersion, results: [DocumentValue?] = []
  ) {
    let write = Accepted(write: self, version: version, results: results)
    DocumentMutation.acknowledge([write], over: &document)
  }

  /// One write of a batch that the server has accepted.
  package struct Accepted: Sendable {
    let write: DocumentMutation
    let version: DocumentVersion
    let results: [DocumentValue?]

    /// - Parameters:
    ///   - version: The version the server named.
    ///   - results: What the server made of each transform, in order; `nil`, or too few, where it
    ///     leaves that to us, as it does for arrays.
    package init(write: DocumentMutation, version: DocumentVersion, results: [DocumentValue?]) {
      self.write = write
      self.version = version
      self.results = results
    }
  }

  /// Applies all that a batch writes to one document, once the server has accepted it.
  ///
  /// Whether the cached document is older than the answer is asked once: the writes of a batch have
  /// one version, and each would seem outdated after the one before it.
  package static func acknowledge(_ writes: [Accepted], over document: inout Document) {
    guard let last = writes.last else { return }
    guard document.version < last.version || document.state == .invalid else { return }
    for item in writes {
      item.write.acknowledged(over: &document, version: item.version, results: item.results)
    }
  }

  /// Applies one accepted write to the cached document.
  ///
  /// A write whose precondition does not hold here, although the server accepted it, leaves the
  /// contents unknown until the server sends them.
  private func acknowledged(
    over document: inout Document, version: DocumentVersion, results: [DocumentValue?]
  ) {
    var next = Document(key, .unknown, version: version, localWrites: .committed)
    switch change {
    case .verify: return
    case .delete: next.state = .missing
    case .set, .patch:
      if precondition.conflict(with: document) == nil {
        next.state = .found(contents(over: document, version: version, results: results))
        next.created = document.isFound ? document.created : version
      }
    }
    document = next
  }

  private func contents(
    over document: Document, version: DocumentVersion, results: [DocumentValue?]
  ) -> DocumentFields {
    let before = document.fields?.map ?? DocumentMap()
    var fields = TransformedFields(laidDown(over: before), replacing: before)
    for (index, item) in transforms.enumerated() {
      let answered = index < results.count ? results[index] : nil
      switch (item.transform, answered) {
      case (.arrayUnion, _), (.arrayRemove, _), (_, nil):
        _ = fields.apply(item, at: .commit(version))
      case (_, let answer?): fields.set(answer, at: item.path)
      }
    }
    return DocumentFields(fields.finished())
  }

  /// Returns the values that increments build on, to be restored before the write is replayed.
  ///
  /// Without it, an increment that the server has already applied would count twice while its
  /// answer is on the way. Source: documents reference, section 3.4.
  ///
  /// - Parameter document: The document as it was shown when the write was made.
  /// - Returns: A patch of the fields that are incremented; `nil` when there are none.
  package func baseMutation(for document: Document) -> DocumentMutation? {
    guard case .patch = change else { return nil }
    let paths = transforms.filter { !$0.transform.isRepeatable }.map(\.path)
    if paths.isEmpty || precondition.conflict(with: document) != nil { return nil }
    let map = laidDown(over: document.fields?.map ?? DocumentMap())
    var base = DocumentMap()
    for path in paths { base[path] = (DocumentNumber(map[path]) ?? .integer(0)).value }
    return DocumentMutation(
      key, .patch(DocumentFields(base), mask: DocumentFieldMask(paths)),
      precondition: .exists(true))
  }
}
