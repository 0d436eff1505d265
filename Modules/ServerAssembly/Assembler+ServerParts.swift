public import TernAssembly
import TernLedger
public import TernSecurity
import TernServer
import TernStorage
import TernSync

// The parts of a server that plugins supply: ledger, authenticator, endpoints.

extension Assembler {
  /// The kind of ledger when the configuration names none.
  private static let standardLedger = "embedded"

  /// Reads the section `ledger`.
  func ledger(
    of configuration: Configuration
  ) throws(ConfigurationError) -> LedgerEntry.Opening {
    let kind = try kind(in: configuration.ledger, "ledger") ?? Self.standardLedger
    guard let entry = catalog.ledgers.first(where: { $0.kind == kind }) else {
      throw .unknownKind(kind, section: "ledger", known: catalog.ledgerKinds)
    }
    return try entry.prepare(configuration.ledger.without("kind"))
  }

  /// Reads the section `storage` for the server's store: as durable as its ledger needs it, unless
  /// the section says. Programs that open nothing but the store know not every ledger.
  func serverStorage(
    of configuration: Configuration
  ) throws(ConfigurationError) -> PreparedStore {
    let kind = try kind(in: configuration.ledger, "ledger") ?? Self.standardLedger
    let entry = catalog.ledgers.first { $0.kind == kind }
    return try storage(
      of: configuration, subfolder: "server", standard: entry?.storeDurability ?? .durable)
  }

  /// Checks that a link whose first message is awaited is read from, at a node that passes calls on
  /// to others.
  func checkInbox(
    _ limits: ServerLimits, _ configuration: Configuration
  ) throws(ConfigurationError) {
    let kind = try kind(in: configuration.ledger, "ledger") ?? Self.standardLedger
    guard kind != Self.standardLedger, limits.inboxBytes < ServerLimits.leastSharedInboxBytes
    else { return }
    throw .refused(
      section: "limits",
      reason: "inboxBytes is \(limits.inboxBytes); a node of a cluster needs "
        + "\(ServerLimits.leastSharedInboxBytes) at least")
  }

  /// Reads the section `auth` for the plugin it selects.
  func authenticator(
    of configuration: Configuration
  ) throws(ConfigurationError) -> (kind: String, open: AuthenticatorEntry.Opening) {
    let isEmpty = configuration.auth.members.isEmpty
    let kind =
      try kind(in: configuration.auth, "auth")
      ?? (isEmpty ? NoAuthenticatorPlugin.kind : PluginCatalog.tokens)
    guard let entry = catalog.authenticators.first(where: { $0.kind == kind }) else {
      throw .unknownKind(kind, section: "auth", known: catalog.authenticatorKinds)
    }
    return (kind, try entry.prepare(configuration.auth.without("kind")))
  }

  /// Checks the section `auth`: for the plugin it selects, or as options of tokens where the
  /// program supplies the authenticator.
  func checkTokens(
    of configuration: Configuration, hasAuthenticator: Bool
  ) throws(ConfigurationError) {
    if hasAuthenticator, configuration.auth.members["kind"] == nil {
      _ = try authOptions(of: configuration)
    } else {
      _ = try authenticator(of: configuration)
    }
  }

  /// Reads the section `endpoints`: those of the program that the configuration does not turn off.
  func endpoints(
    of configuration: Configuration
  ) throws(ConfigurationError) -> [(kind: String, open: EndpointEntry.Opening)] {
    let members = configuration.endpoints.members
    let known = catalog.endpointKinds
    for key in members.keys.sorted() where !known.contains(key) {
      throw .unknownKind(key, section: "endpoints", known: known)
    }
    var endpoints: [(kind: String, open: EndpointEntry.Opening)] = []
    for entry in catalog.entries(EndpointEntry.self) {
      switch members[entry.kind] {
      case .bool(false), .text("false"): continue
      case nil, .bool(true), .text("true"):
        endpoints.append((entry.kind, try entry.prepare(.object([:]))))
      case .object(let options)?:
        endpoints.append((entry.kind, try entry.prepare(.object(options))))
      case let value?:
        throw .wrongType(
          key: entry.kind, section: "endpoints", expected: "true, false or an object",
          found: value.typeName)
      }
    }
    return endpoints
  }

  /// Opens the authenticator that the section `auth` selects, and nothing else.
  ///
  /// A server opens its own; this is for programs that combine it with another one.
  /// - Throws: ``ServerAssemblyError``, with nothing left open.
  public func authenticator(
    from configuration: Configuration
  ) async throws(ServerAssemblyError) -> AssembledAuthenticator {
    let prepared = try checkedServer { () throws(ConfigurationError) in
      try authenticator(of: configuration)
    }
    let open = OpenParts()
    let resources = AuthenticatorResources(
      now: ambient.millisecondsSinceEpoch, whenClosed: { open.add($0) })
    do throws(PluginError) {
      return AssembledAuthenticator(authenticator: try await prepared.open(resources), open: open)
    } catch {
      await open.close()
      throw .plugin(section: "auth", kind: prepared.kind, reason: error.reason)
    }
  }

  private func kind(
    in section: ConfigurationValue, _ name: String
  ) throws(ConfigurationError) -> String? {
    guard let value = section.members["kind"] else { return nil }
    guard let kind = value.stringValue else {
      throw .wrongType(key: "kind", section: name, expected: "a string", found: value.typeName)
    }
    return kind
  }
}

/// An authenticator that was opened with everything it is made of.
public struct AssembledAuthenticator: Sendable {
  /// The authenticator; `nil` when every client stays anonymous.
  public let authenticator: (any Authenticator)?
  private let open: OpenParts

  init(authenticator: (any Authenticator)?, open: OpenParts) {
    self.authenticator = authenticator
    self.open = open
  }

  /// Closes its parts. Closing twice does nothing.
  public func close() async { await open.close() }
}

extension ConfigurationValue {
  /// The object without a key.
  fileprivate func without(_ key: String) -> ConfigurationValue {
    .object(members.filter { $0.key != key })
  }
}
