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
    @State private var model: LiveValue<Value>

    /// Follows a location, or a query at one, while the view is shown.
    public init(_ query: some TreeQuerying) {
      _model = State(initialValue: LiveValue(resting: query))
    }

    /// The value; `nil` until one is known, and where nothing is.
    public var wrappedValue: Value? { model.value }

    /// The model: completeness, pending writes, errors.
    public var projectedValue: LiveValue<Value> { model }

    /// Begins to follow.
    public func update() { model.start() }
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
    @State private var model: LiveQuery<Element>

    /// Follows a query of documents while the view is shown.
    public init(_ query: some DocumentQuerying) {
      _model = State(initialValue: LiveQuery(resting: query))
    }

    /// Follows the children that a query of the tree selects while the view is shown.
    public init(_ query: some TreeQuerying) {
      _model = State(initialValue: LiveQuery(resting: query))
    }

    /// The results, in the query's order.
    public var wrappedValue: [Element] { model.results }

    /// The model: whether results are loaded, pending writes, errors.
    public var projectedValue: LiveQuery<Element> { model }

    /// Begins to follow.
    public func update() { model.start() }
  }
#endif
