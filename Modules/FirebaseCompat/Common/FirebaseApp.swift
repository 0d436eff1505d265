import Foundation
import Synchronization
public import TernAssembly
import TernClient
import TernCore
public import TernStandard

/// A configuration under a name, and the databases that belong to it.
public final class FirebaseApp: Sendable {
  /// The name of the app that calls without a name mean.
  public static let defaultName = "__FIRAPP_DEFAULT"

  /// Firebase's names are global to a program, and so is this table of them; everything below it
  /// takes its parts by initialiser.
  private static let apps = Mutex<[String: FirebaseApp]>([:])

  /// The name.
  public let name: String
  let database: Database
  /// Who uses the databases of the app.
  let auth: Auth
  private let projectID: String
  private let configuration: Configuration
  private let assembler: Assembler
  /// By the id of the database; one that was terminated makes way for a new one.
  private let firestores = Mutex<[String: Firestore]>([:])

  private init(
    name: String, projectID: String, configuration: Configuration, assembler: Assembler
  ) {
    self.name = name
    self.projectID = projectID
    self.configuration = configuration
    self.assembler = assembler
    let auth = Auth {
      let store = try await assembler.store(from: configuration.keepingAuth)
      return try ClientAuth(store: store, ambient: assembler.ambient)
    }
    self.auth = auth
    database = Database(
      address: Self.address(of: configuration), ambient: assembler.ambient
    ) { settings in
      var options = settings.clientOptions
      // A device that cannot keep who is signed in still has its data.
      options.auth = try? await auth.native()
      return try await assembler.client(
        from: settings.applied(to: configuration), options: options)
    }
  }

  /// Says where the data is kept and which server is meant.
  ///
  /// - Parameter projectID: The project that documents belong to.
  /// - Precondition: No app of this name was configured before.
  @discardableResult
  public static func configure(
    name: String = defaultName, projectID: String = "tern",
    configuration: Configuration = .standard,
    assembler: Assembler = Assembler(catalog: .standard)
  ) -> FirebaseApp {
    let app = FirebaseApp(
      name: name, projectID: projectID, configuration: configuration, assembler: assembler)
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
        name: defaultName, projectID: "tern", configuration: .standard,
        assembler: Assembler(catalog: .standard))
      apps[defaultName] = app
      return app
    }
  }

  /// Tells a developer what a client has to say.
  static let report: @Sendable (ClientNotice) -> Void = { notice in
    FileHandle.standardError.write(Data("Tern: \(notice)\n".utf8))
  }

  /// The documents of a database of this app.
  ///
  /// - Precondition: `id` is the id of a database.
  func firestore(_ id: String) -> Firestore {
    firestores.withLock { firestores in
      if let known = firestores[id], !known.isTerminated { return known }
      let firestore = Firestore(
        app: self, database: Misuse.database(id, of: projectID), configuration: configuration,
        assembler: assembler)
      firestores[id] = firestore
      return firestore
    }
  }

  private static func address(of configuration: Configuration) -> String {
    let members = configuration.transport.members
    let host = members["host"]?.stringValue ?? "localhost"
    guard let port = members["port"] else { return "http://\(host)" }
    return "http://\(host):\(port.canonicalText)"
  }
}

extension Configuration {
  /// The same, but for a store that keeps who is signed in.
  fileprivate var keepingAuth: Configuration {
    var configuration = self
    var members = storage.members
    members["path"] = .string((members["path"]?.stringValue ?? "tern-data") + "/auth")
    configuration.storage = .object(members)
    return configuration
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
    options.report = FirebaseApp.report
    // Documents have a client of their own, with settings of their own.
    options.documents = nil
    options.cacheLimitBytes =
      persistenceCacheSizeBytes == Database.cacheSizeUnlimited
      ? nil : Int(clamping: persistenceCacheSizeBytes)
    return options
  }
}
