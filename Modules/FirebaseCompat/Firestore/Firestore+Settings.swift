import Foundation
import Synchronization
import TernAssembly
import TernClient
import TernCore
import TernTransportTCP

extension Firestore {
  /// The documents of the default app.
  public static func firestore() -> Firestore {
    FirebaseApp.standard.firestore(DocumentDatabase.defaultID)
  }

  /// The documents of an app.
  public static func firestore(app: FirebaseApp) -> Firestore {
    app.firestore(DocumentDatabase.defaultID)
  }

  /// The documents of another than the default database of the default app.
  public static func firestore(database: String) -> Firestore {
    FirebaseApp.standard.firestore(database)
  }

  /// The documents of a database of an app.
  public static func firestore(app: FirebaseApp, database: String) -> Firestore {
    app.firestore(database)
  }

  /// Notes on standard error when the connections of databases that are opened from now on come and
  /// go; off unless asked for.
  public static func enableLogging(_ logging: Bool) {
    DebugLog.setEnabled(logging, for: .documents)
  }

  /// The app that the database belongs to.
  public var app: FirebaseApp { owner ?? FirebaseApp.standard }

  /// The settings: a copy, which takes effect when it is assigned back.
  ///
  /// - Precondition: Assigned before the first operation, with a cache of at least 1 MiB; see
  ///   ``configure(_:)`` for a way to be told of a mistake.
  public var settings: FirestoreSettings {
    get { FirestoreSettings(calls.state.withLock { $0.choices }) }
    set {
      do throws(FirestoreSettingsError) {
        try configure(newValue)
      } catch {
        preconditionFailure("A setting was refused: \(error)")
      }
    }
  }

  /// Assigns ``settings``.
  ///
  /// - Throws: ``FirestoreSettingsError``; nothing is changed then.
  public func configure(_ settings: FirestoreSettings) throws(FirestoreSettingsError) {
    let choices = settings.choices
    let problem: FirestoreSettingsError? = calls.state.withLock { state in
      if state.isFrozen {
        return choices.difference(from: state.choices).map { .settingsFrozen($0) }
      }
      if let reason = choices.hostMistake { return .invalidHost(reason) }
      if choices.isSSLEnabled, !canEncrypt(choices) { return .encryptionUnavailable }
      if let limit = choices.cache.limitBytes,
        limit < Int(FirestoreSettings.smallestCacheSizeBytes)
      {
        return .cacheSizeTooSmall(limit, minimum: Int(FirestoreSettings.smallestCacheSizeBytes))
      }
      state.choices = choices
      return nil
    }
    if let problem { throw problem }
  }

  /// Talks to a server on this host and port in place of the configured one.
  ///
  /// - Precondition: Called before the first operation.
  public func useEmulator(withHost host: String, port: Int) {
    let settings = settings
    settings.host = TCPAddress(host: host.withoutBrackets, port: port).description
    settings.isSSLEnabled = false
    self.settings = settings
  }

  /// The indexes on this device; `nil` without a persistent cache.
  public var persistentCacheIndexManager: PersistentCacheIndexManager? {
    calls.open()
    let isPersistent = calls.state.withLock { $0.choices.cache.isPersistent }
    return isPersistent ? PersistentCacheIndexManager(self) : nil
  }
}

/// The reason settings were rejected; nothing was changed.
public enum FirestoreSettingsError: Error, Hashable, Sendable {
  /// A setting was changed after the first operation. Change it before.
  case settingsFrozen(String)
  /// The host is none, or its port is no number in 0...65535; the text says why.
  case invalidHost(String)
  /// An encrypted connection was asked for, while the configuration names a transport that makes
  /// none. Name a host, or the transport `tcp`.
  case encryptionUnavailable
  /// The cache would be smaller than the smallest allowed, in bytes.
  case cacheSizeTooSmall(Int, minimum: Int)
}

extension Firestore {
  /// Makes the database of an app.
  convenience init(
    app: FirebaseApp, database: DocumentDatabase, configuration: Configuration,
    assembler: Assembler
  ) {
    let auth = app.auth
    let canEncrypt = { @Sendable (choices: FirestoreChoices) in
      choices.namesHost || configuration.transport.members["kind"]?.stringValue == "tcp"
    }
    self.init(
      database: database, ambient: assembler.ambient, owner: app, canEncrypt: canEncrypt
    ) { choices, isOffline in
      var options = choices.clientOptions
      // A device that cannot keep who is signed in still has its data.
      options.auth = try? await auth.native()
      let opened = try await assembler.documents(
        of: database, from: choices.applied(to: configuration), options: options,
        isOffline: isOffline)
      return OpenedDocuments(documents: opened.documents, close: { await opened.close() })
    }
  }
}

extension String {
  /// An IPv6 address without the brackets that set it off from a port.
  fileprivate var withoutBrackets: String {
    hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
  }
}

extension FirestoreChoices {
  /// The port of a host that is named without one.
  private static let standardPort = 9000

  /// The reason that the host is none; `nil` when it is one, or none is named.
  fileprivate var hostMistake: String? {
    guard namesHost else { return nil }
    do {
      _ = try TCPAddress.list(host, defaultPort: Self.standardPort)
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// The configuration these settings mean: without persistence, everything is kept in memory.
  func applied(to configuration: Configuration) -> Configuration {
    var configuration = configuration
    if !cache.isPersistent { configuration.storage = ["kind": "memory"] }
    // What a program chooses counts before what its configuration says.
    if cache != FirestoreChoices().cache {
      configuration.documents = .object(
        configuration.documents.members.filter { $0.key != "cacheLimitBytes" })
    }
    let tls = configuration.transport.members["tls"]
    if namesHost {
      // The transport reads ports and brackets in it.
      configuration.transport = [
        "kind": "tcp", "host": .string(host),
        "port": .integer(Int64(FirestoreChoices.standardPort)),
      ]
    }
    // The configuration names the trusted roots, also for another host.
    if isSSLEnabled {
      configuration.transport = .object(
        configuration.transport.members.merging(["tls": tls ?? [:]]) { $1 })
    }
    return configuration
  }

  var clientOptions: ClientOptions {
    var options = ClientOptions()
    // Here an application asks for them, at every start.
    options.createsDocumentIndexes = false
    options.report = FirebaseApp.report
    options.documentCacheLimitBytes = cache.limitBytes
    options.forgetsUnusedDocuments = cache.isEager
    return options
  }
}
