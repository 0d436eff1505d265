public import TernAssembly
public import TernLedger
public import TernSecurity
public import TernServer
import TernStorage

extension PluginCatalog {
  /// Adds a ledger; a second one of the same kind replaces the first. The kind `embedded` is there
  /// without a registration.
  public mutating func register<Plugin: LedgerPlugin>(_ plugin: Plugin.Type) {
    add(LedgerEntry(plugin))
  }

  /// Adds an authenticator; a second one of the same kind replaces the first. The kind `none` is
  /// there without a registration.
  public mutating func register<Plugin: AuthenticatorPlugin>(_ plugin: Plugin.Type) {
    add(AuthenticatorEntry(plugin))
  }

  /// Adds an endpoint; a second one of the same kind replaces the first.
  public mutating func register<Plugin: EndpointPlugin>(_ plugin: Plugin.Type) {
    add(EndpointEntry(plugin))
  }

  /// The ledger kinds: `embedded`, then those registered.
  public var ledgerKinds: [String] { ledgers.map(\.kind) }

  /// The authenticator kinds: `none`, then those registered.
  public var authenticatorKinds: [String] { authenticators.map(\.kind) }

  /// The endpoint kinds, in the order they were registered.
  public var endpointKinds: [String] { entries(EndpointEntry.self).map(\.kind) }

  /// The kind of authenticator when the section `auth` has other keys and names none.
  static let tokens = "tokens"

  var hasTokens: Bool { authenticatorKinds.contains(Self.tokens) }

  var ledgers: [LedgerEntry] {
    with(LedgerEntry(EmbeddedLedgerPlugin.self), entries(LedgerEntry.self))
  }

  var authenticators: [AuthenticatorEntry] {
    with(AuthenticatorEntry(NoAuthenticatorPlugin.self), entries(AuthenticatorEntry.self))
  }

  /// The registered entries behind the built-in one, unless one of them replaces it.
  private func with<Entry: PluginEntry>(_ builtIn: Entry, _ registered: [Entry]) -> [Entry] {
    registered.contains { $0.kind == builtIn.kind } ? registered : [builtIn] + registered
  }
}

/// Takes no credential: every client stays anonymous.
enum NoAuthenticatorPlugin: AuthenticatorPlugin {
  struct Options: Decodable, Sendable {}

  static let kind = "none"

  static func open(
    _ options: Options, with resources: AuthenticatorResources
  ) async throws(PluginError) -> (any Authenticator)? { nil }
}

/// A ledger plugin with its options type hidden.
struct LedgerEntry: PluginEntry {
  typealias Opening = @Sendable (LedgerResources) async throws(LedgerError) -> any Ledger

  let kind: String
  /// The durability of the server's store when the configuration names none.
  let storeDurability: Durability
  /// Reads a section now; opens the ledger it describes when called again.
  let prepare: @Sendable (ConfigurationValue) throws(ConfigurationError) -> Opening

  init<Plugin: LedgerPlugin>(_ plugin: Plugin.Type) {
    kind = plugin.kind
    storeDurability = plugin.storeDurability
    prepare = { section throws(ConfigurationError) in
      let options = try SectionReader(section: "ledger", ownKeys: ["kind"])
        .read(Plugin.Options.self, from: section)
      return { resources async throws(LedgerError) in
        try await Plugin.open(options, with: resources)
      }
    }
  }
}

/// An authenticator plugin with its options type hidden.
struct AuthenticatorEntry: PluginEntry {
  typealias Opening =
    @Sendable (AuthenticatorResources) async throws(PluginError) -> (any Authenticator)?

  let kind: String
  /// Reads a section now; opens the authenticator it describes when called again.
  let prepare: @Sendable (ConfigurationValue) throws(ConfigurationError) -> Opening

  init<Plugin: AuthenticatorPlugin>(_ plugin: Plugin.Type) {
    kind = plugin.kind
    prepare = { section throws(ConfigurationError) in
      let options = try SectionReader(section: "auth", ownKeys: ["kind"])
        .read(Plugin.Options.self, from: section)
      return { resources async throws(PluginError) in
        try await Plugin.open(options, with: resources)
      }
    }
  }
}

/// An endpoint plugin with its options type hidden.
struct EndpointEntry: PluginEntry {
  typealias Opening = @Sendable (TernServer, EndpointResources) async throws(PluginError) -> Void

  let kind: String
  /// Reads the options under the kind now; opens the endpoint they describe when called again.
  let prepare: @Sendable (ConfigurationValue) throws(ConfigurationError) -> Opening

  init<Plugin: EndpointPlugin>(_ plugin: Plugin.Type) {
    let kind = plugin.kind
    self.kind = kind
    prepare = { section throws(ConfigurationError) in
      let options = try SectionReader(section: "endpoints." + kind, ownKeys: [])
        .read(Plugin.Options.self, from: section)
      return { server, resources async throws(PluginError) in
        try await Plugin.open(options, to: server, with: resources)
      }
    }
  }
}
