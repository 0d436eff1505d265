public import TernStorage

/// A way to open stores of one backend at locations, for the checks of ``PersistenceContract``.
public struct PersistenceFixture: Sendable, CustomStringConvertible {
  /// The lifetime of a backend's rows.
  public enum Lifetime: Sendable {
    /// Rows end with their store: nothing is checked across openings.
    case store
    /// Rows outlive the process, outside the folder of their location.
    case service
    /// Rows outlive the process, in files below the folder of their location.
    case files
  }

  /// Opens the store at a location.
  public typealias Opening =
    @Sendable (StorageLocation) async throws(StorageError) -> any OrderedStore

  /// The backend's name in test reports.
  public let description: String
  /// The lifetime of the backend's rows, which chooses the checks.
  let lifetime: Lifetime
  /// Returns the path of a folder that is used once.
  let makeFolder: @Sendable () throws -> String
  /// Opens a store as a program does.
  let opening: Opening
  /// Opens a store that is soon full; `nil` skips the check of full disks.
  let smallOpening: Opening?

  /// A backend called `name`.
  ///
  /// - Parameters:
  ///   - lifetime: The lifetime of its rows.
  ///   - folder: Returns the path of a folder that no earlier call returned; empty, or to be made.
  ///   - small: Opens a store that is full with at most ``PersistenceContract/smallBytes``; `nil`
  ///     for backends that have no such option.
  ///   - open: Opens a store.
  public init(
    _ name: String, lifetime: Lifetime = .files, folder: @escaping @Sendable () throws -> String,
    small: Opening? = nil, open: @escaping Opening
  ) {
    description = name
    self.lifetime = lifetime
    makeFolder = folder
    opening = open
    smallOpening = small
  }

  /// The backend of a plugin, with the options of a configuration.
  public init<Plugin: StoragePlugin>(
    _ plugin: Plugin.Type, _ options: Plugin.Options, lifetime: Lifetime = .files,
    small: Plugin.Options? = nil, folder: @escaping @Sendable () throws -> String
  ) {
    var smallOpening: Opening?
    if let small { smallOpening = Self.opening(plugin, small) }
    self.init(
      Plugin.kind, lifetime: lifetime, folder: folder, small: smallOpening,
      open: Self.opening(plugin, options))
  }

  /// Opens by the plugin, as the assembler does.
  private static func opening<Plugin: StoragePlugin>(
    _ plugin: Plugin.Type, _ options: Plugin.Options
  ) -> Opening {
    { location async throws(StorageError) in try await Plugin.open(options, at: location) }
  }

  /// Opens a store of the backend.
  func open(
    _ name: String = "store", in path: String, _ durability: Durability = .durable
  ) async throws(StorageError) -> any OrderedStore {
    try await opening(StorageLocation(name: name, in: path, durability: durability))
  }
}

/// One promise of a plugin, for one backend.
public struct PersistenceCheck: Sendable, CustomStringConvertible {
  /// The backend's name and the promise, in words.
  public let description: String

  private let fixture: PersistenceFixture
  private let body: @Sendable (PersistenceFixture) async throws -> Void

  init(
    _ promise: String, of fixture: PersistenceFixture,
    _ body: @escaping @Sendable (PersistenceFixture) async throws -> Void
  ) {
    description = fixture.description + ": " + promise
    self.fixture = fixture
    self.body = body
  }

  /// Throws ``StoreCheckFailure``, or what the store threw, unless the plugin keeps the promise.
  public func run() async throws { try await body(fixture) }
}
