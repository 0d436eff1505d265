#if canImport(SwiftUI)
  public import SwiftUI
  public import TernClient

  /// The value of a query of the tree in a view.
  ///
  /// ```swift
  /// struct TitleView: View {
  ///   @Live var title: String?
  ///   init(_ room: TreeReference) { _title = Live(room["title"]) }
  ///   var body: some View { Text(title ?? "…") }
  /// }
  /// ```
  @MainActor @propertyWrapper
  public struct Live<Value: Decodable & Sendable>: @MainActor DynamicProperty {
    // Of the models that SwiftUI is given for one view it keeps the first: the query is beside it.
    private let query: TreeQueryReference
    @State private var model: LiveValue<Value>

    /// Follows a location, or a query at one, while the view is shown.
    public init(_ query: some TreeQuerying) {
      self.query = query.queried
      _model = State(initialValue: LiveValue(resting: query))
    }

    /// The value; `nil` until one is known, and where nothing is.
    public var wrappedValue: Value? { model.value }

    /// The model: completeness, pending writes, errors.
    public var projectedValue: LiveValue<Value> { model }

    /// Follows the query that the view has now.
    public func update() { model.follow(query) }
  }

  /// The results of a query in a view.
  ///
  /// ```swift
  /// struct CitiesView: View {
  ///   @LiveResults var cities: [City]
  ///   init(_ tern: TernDatabase) {
  ///     _cities = LiveResults(tern.documents.collection("cities").order(by: "name"))
  ///   }
  ///   var body: some View { List(cities, id: \.name) { Text($0.name) } }
  /// }
  /// ```
  @MainActor @propertyWrapper
  public struct LiveResults<Element: Decodable & Sendable>: @MainActor DynamicProperty {
    // Of the models that SwiftUI is given for one view it keeps the first: the query is beside it.
    private let source: LiveQuery<Element>.Source
    @State private var model: LiveQuery<Element>

    /// Follows a query of documents while the view is shown.
    public init(_ query: some DocumentQuerying) {
      source = .documents(query.queried)
      _model = State(initialValue: LiveQuery(resting: source))
    }

    /// Follows the children that a query of the tree selects while the view is shown.
    public init(_ query: some TreeQuerying) {
      source = .tree(query.queried)
      _model = State(initialValue: LiveQuery(resting: source))
    }

    /// The results, in the query's order.
    public var wrappedValue: [Element] { model.results }

    /// The model: whether results are loaded, pending writes, errors.
    public var projectedValue: LiveQuery<Element> { model }

    /// Follows the query that the view has now.
    public func update() { model.follow(source) }
  }
#endif
