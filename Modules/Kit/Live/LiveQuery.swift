public import Observation
public import TernClient
import TernCore
import TernSync

/// The results of a query as an observable model: a view that reads them follows them.
///
/// ```swift
/// let cities = LiveQuery(tern.documents.collection("cities").order(by: "name"), as: City.self)
/// let scores = LiveQuery(tern.tree["scores"].orderByValue().last(10), as: Int.self)
/// ```
/// It listens as long as it is alive.
@MainActor @Observable
public final class LiveQuery<Element: Decodable & Sendable> {
  /// The results, in the query's order; empty until some are known.
  public private(set) var results: [Element] = []
  /// True when any results have come.
  public private(set) var isLoaded = false
  /// True when the results may lack what only the server knows.
  public private(set) var isFromCache = true
  /// True when writes of this client are part of them that the server has not acknowledged.
  public private(set) var hasPendingWrites = false
  /// The positions in ``results`` of those with such writes of their own.
  public private(set) var pendingIndices: Set<Int> = []
  /// The reason why it no longer follows, or why the newest results do not decode.
  public private(set) var error: (any TernError)?

  /// The query that a model follows.
  enum Source: Equatable {
    case documents(DocumentQueryReference)
    case tree(TreeQueryReference)
  }

  @ObservationIgnored private var source: Source
  @ObservationIgnored private var task: Task<Void, Never>?

  /// Follows a collection of documents, or a query of one.
  public convenience init(_ query: some DocumentQuerying, as type: Element.Type = Element.self) {
    self.init(resting: query)
    start()
  }

  /// Follows the children that a query of the tree selects, in its order.
  public convenience init(_ query: some TreeQuerying, as type: Element.Type = Element.self) {
    self.init(resting: query)
    start()
  }

  /// Follows nothing before ``start()``.
  convenience init(resting query: some DocumentQuerying) {
    self.init(resting: .documents(query.queried))
  }

  /// Follows nothing before ``start()``.
  convenience init(resting query: some TreeQuerying) { self.init(resting: .tree(query.queried)) }

  /// Follows nothing before ``start()``.
  init(resting source: Source) { self.source = source }

  deinit { task?.cancel() }

  /// Begins to follow, unless it does already.
  func start() {
    guard task == nil else { return }
    switch source {
    case .documents(let query): task = listening(to: query)
    case .tree(let query): task = listening(to: query)
    }
  }

  /// Follows a query in place of the former one, whose results are forgotten; nothing changes when
  /// they are the same.
  func follow(_ source: Source) {
    if source != self.source {
      task?.cancel()
      task = nil
      self.source = source
      (results, isLoaded, isFromCache, hasPendingWrites) = ([], false, true, false)
      (pendingIndices, error) = ([], nil)
    }
    start()
  }

  private func listening(to query: DocumentQueryReference) -> Task<Void, Never> {
    let snapshots = query.snapshots(includingMetadata: true)
    return Task { [weak self] in
      var known = DecodedElements<DocumentKey?, DocumentFields?, Element>()
      do throws(DocumentsError) {
        for try await result in snapshots where !Task.isCancelled {
          let metadata = result.metadata
          let documents = result.documents
          self?.show(
            metadata.isFromCache, metadata.hasPendingWrites,
            pending: documents.map(\.metadata.hasPendingWrites)
          ) { () throws(DocumentCodingError) in
            try known.update(documents, key: \.documentKey, content: \.packedFields) {
              (document) throws(DocumentCodingError) in try document.decode(Element.self)
            }
          }
        }
      } catch {
        if !Task.isCancelled { self?.error = error }
      }
    }
  }

  private func listening(to query: TreeQueryReference) -> Task<Void, Never> {
    let snapshots = query.snapshots()
    return Task { [weak self] in
      var known = DecodedElements<TreeKey?, TreeNode, Element>()
      do throws(ListenError) {
        for try await result in snapshots
        where !Task.isCancelled && (result.isComplete || result.exists) {
          let children = result.children
          self?.show(
            result.isFromCache || !result.isComplete, result.hasPendingWrites,
            pending: children.map(\.hasPendingWrites)
          ) { () throws(TreeCodingError) in
            try known.update(children, key: \.key, content: \.node) {
              (child) throws(TreeCodingError) in try child.decode(Element.self)
            }
          }
        }
      } catch {
        if !Task.isCancelled { self?.error = error }
      }
    }
  }

  private func show<Failure: TernError>(
    _ isFromCache: Bool, _ hasPendingWrites: Bool, pending: @autoclosure () -> [Bool],
    _ decode: () throws(Failure) -> [Element]
  ) {
    self.isFromCache = isFromCache
    self.hasPendingWrites = hasPendingWrites
    isLoaded = true
    do throws(Failure) {
      results = try decode()
      let pending = hasPendingWrites ? pending() : []
      pendingIndices = Set(pending.indices.filter { pending[$0] })
      error = nil
    } catch {
      self.error = error
    }
  }
}
