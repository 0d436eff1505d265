public import Observation
public import TernClient
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

  @ObservationIgnored private let follow: @MainActor (LiveQuery) -> Task<Void, Never>
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
  init(resting query: some DocumentQuerying) {
    let snapshots = query.snapshots(includingMetadata: true)
    follow = { model in
      Task { [weak model] in
        do throws(DocumentsError) {
          for try await result in snapshots {
            let metadata = result.metadata
            model?.show(
              metadata.isFromCache, metadata.hasPendingWrites,
              pending: result.documents.map(\.metadata.hasPendingWrites)
            ) { () throws(DocumentCodingError) in try result.decode(Element.self) }
          }
        } catch {
          model?.error = error
        }
      }
    }
  }

  /// Follows nothing before ``start()``.
  init(resting query: some TreeQuerying) {
    let snapshots = query.snapshots()
    follow = { model in
      Task { [weak model] in
        do throws(ListenError) {
          for try await result in snapshots where result.isComplete || result.exists {
            let children = result.children
            model?.show(
              result.isFromCache || !result.isComplete, result.hasPendingWrites,
              pending: children.map(\.hasPendingWrites)
            ) { () throws(TreeCodingError) in
              var values: [Element] = []
              for child in children { values.append(try child.decode(Element.self)) }
              return values
            }
          }
        } catch {
          model?.error = error
        }
      }
    }
  }

  deinit { task?.cancel() }

  /// Begins to follow, unless it does already.
  func start() {
    if task == nil { task = follow(self) }
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
