import Foundation
import Synchronization
public import TernAssembly
import TernClient
public import TernStandard

/// A configuration under a name, and the one database that belongs to it.
public final class FirebaseApp: Sendable {
  /// The name of the app that calls without a name mean.
  public static let defaultName = "__FIRAPP_DEFAULT"

  /// Firebase's names are global to a program, and so is this table of them; everything below it
  /// takes its parts by initialiser.
  private static let apps = Mutex<[String: FirebaseApp]>([:])

  /// The name.
  public let name: String
  let database: Database

  private init(name: String, configuration: Configuration, assembler: Assembler) {
    self.name = name
    database = Database(
      address: Self.address(of: configuration), ambient: assembler.ambient
    ) { settings in
      try await assembler.client(
        from: settings.applied(to: configuration), options: settings.clientOptions)
    }
  }

  /// Says where the data is kept and which server is meant.
  ///
  /// - Precondition: No app of this name was configured before.
  @discardableResult
  public static func configure(
    name: String = defaultName, configuration: Configuration = .standard,
    assembler: Assembler = Assembler(catalog: .standard)
  ) -> FirebaseApp {
    let app = FirebaseApp(name: name, configuration: configuration, assembler: assembler)
    apps.withLock { apps in
      precondition(apps[name] == nil, "The app \"\(name)\" is configured already.")
      apps[name] = app
    }
    return app
  }

  /// The app of a name, if it was configured.
  public static func app(name: String = defaultName) -> FirebaseApp? {
    apps.withLock { $0[name] }
  }

  /// The default app; it is configured with the standard configuration if nobody did.
  static var standard: FirebaseApp {
    apps.withLock { apps in
      if let app = apps[defaultName] { return app }
      let app = FirebaseApp(
        name: defaultName, configuration: .standard, assembler: Assembler(catalog: .standard))
      apps[defaultName] = app
      return app
    }
  }

  private static func address(of configuration: Configuration) -> String {
    let members = configuration.transport.members
    let host = members["host"]?.stringValue ?? "localhost"
    guard let port = members["port"] else { return "http://\(host)" }
    return "http://\(host):\(port.canonicalText)"
  }
}

extension Database {
  /// The database of the default app.
  public static func database() -> Database { FirebaseApp.standard.database }

  /// The database of an app.
  public static func database(app: FirebaseApp) -> Database { app.database }
}

extension DatabaseSettings {
  /// The configuration these settings mean: without persistence, everything is kept in memory.
  fileprivate func applied(to configuration: Configuration) -> Configuration {
    var configuration = configuration
    if !isPersistenceEnabled { configuration.storage = ["kind": "memory"] }
    if let emulator {
      configuration.transport = [
        "kind": "tcp", "host": .string(emulator.host), "port": .integer(Int64(emulator.port)),
      ]
    }
    return configuration
  }

  fileprivate var clientOptions: ClientOptions {
    var options = ClientOptions()
    options.report = { FileHandle.standardError.write(Data("Tern: \($0)\n".utf8)) }
    options.cacheLimitBytes =
      persistenceCacheSizeBytes == Database.cacheSizeUnlimited
      ? nil : Int(clamping: persistenceCacheSizeBytes)
    return options
  }
}
