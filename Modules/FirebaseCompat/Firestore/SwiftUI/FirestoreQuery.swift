#if canImport(SwiftUI)
  public import SwiftUI

  /// The decoded documents of a collection, kept up to date in a view.
  ///
  /// ```swift
  /// @FirestoreQuery(collectionPath: "fruits", predicates: [.order(by: "name")])
  /// var fruits: [Fruit]
  /// ```
  ///
  /// The value is an array, or a `Result` of one. It is read from the default database of the
  /// default app, on the main queue; set the predicates of the projected value to change what is
  /// asked for.
  @propertyWrapper
  public struct FirestoreQuery<T>: DynamicProperty {
    /// The query and its treatment of errors.
    public struct Configuration {
      /// The path of the collection.
      public var path: String
      /// Conditions, orders and limits.
      public var predicates: [QueryPredicate]
      /// The consequence of a document that does not decode.
      public var decodingFailureStrategy: DecodingFailureStrategy = .raise
      /// The last error of the query or of a document.
      public var error: (any Error)?
      /// The animation that shows new results; without one they are shown at once.
      public var animation: Animation?
    }

    @StateObject private var observable: FirestoreQueryObservable<T>

    /// The documents; none until the first result is there.
    @MainActor public var wrappedValue: T { observable.value }

    /// The query; setting it asks anew.
    @MainActor public var projectedValue: Configuration {
      get { observable.configuration }
      nonmutating set { observable.configuration = newValue }
    }

    /// Asks for the documents of a collection.
    public init<Item: Decodable>(
      collectionPath: String, predicates: [QueryPredicate] = [],
      decodingFailureStrategy: DecodingFailureStrategy = .raise, animation: Animation? = nil
    ) where T == [Item] {
      let configuration = Configuration(
        path: collectionPath, predicates: predicates,
        decodingFailureStrategy: decodingFailureStrategy, animation: animation)
      _observable = StateObject(
        wrappedValue: FirestoreQueryObservable(configuration, empty: []) {
          snapshot, error, strategy in
          guard let snapshot else { return ([], error) }
          let decoded = DecodedResult<Item>(snapshot, strategy)
          return (decoded.items, decoded.error)
        })
    }

    /// Asks for the documents of a collection, or the error instead.
    public init<Item: Decodable>(
      collectionPath: String, predicates: [QueryPredicate] = [],
      decodingFailureStrategy: DecodingFailureStrategy = .raise, animation: Animation? = nil
    ) where T == Result<[Item], any Error> {
      let configuration = Configuration(
        path: collectionPath, predicates: predicates,
        decodingFailureStrategy: decodingFailureStrategy, animation: animation)
      _observable = StateObject(
        wrappedValue: FirestoreQueryObservable(configuration, empty: .success([])) {
          snapshot, error, strategy in
          let decoded =
            snapshot.map { DecodedResult<Item>($0, strategy) }
            ?? error.map { DecodedResult<Item>(error: $0) }
          return (decoded?.result ?? .success([]), decoded?.error)
        })
    }
  }

  /// The listener of one `FirestoreQuery`. Used on the main queue only, where snapshots come.
  final class FirestoreQueryObservable<T>: ObservableObject {
    typealias Decoding =
      (QuerySnapshot?, (any Error)?, DecodingFailureStrategy) -> (T, (any Error)?)

    @Published private(set) var value: T
    private var current: FirestoreQuery<T>.Configuration
    private let decode: Decoding
    private var registration: (any ListenerRegistration)?

    init(
      _ configuration: FirestoreQuery<T>.Configuration, empty: T, _ decode: @escaping Decoding
    ) {
      value = empty
      current = configuration
      self.decode = decode
      listen()
    }

    deinit { registration?.remove() }

    var configuration: FirestoreQuery<T>.Configuration {
      get { current }
      set {
        objectWillChange.send()
        current = newValue
        listen()
      }
    }

    private func listen() {
      registration?.remove()
      let query = Firestore.firestore().collection(current.path).refined(by: current.predicates)
      registration = query.addSnapshotListener { [weak self] snapshot, error in
        guard let self else { return }
        let (value, failure) = self.decode(
          snapshot, error, self.current.decodingFailureStrategy)
        self.current.error = failure
        withAnimation(self.current.animation) { self.value = value }
      }
    }
  }
#endif
