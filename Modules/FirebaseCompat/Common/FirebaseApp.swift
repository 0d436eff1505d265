import Dispatch
import Synchronization
public import TernAssembly
import TernClient
import TernCore
import TernStorage

/// A server under a name, and the databases that belong to it.
public final class FirebaseApp: Sendable {
  /// The name of the app that calls without a name mean.
  public static let defaultName = "__FIRAPP_DEFAULT"

  /// Firebase's names are global to a program, and so is this table of them; everything below it
  /// takes its parts by initialiser.
  private static let apps = Mutex<[String: FirebaseApp]>([:])

  /// The name.
  public let name: String
  /// True when other libraries may collect data about the use of the app. Nothing here does.
  public var isDataCollectionDefaultEnabled: Bool {
    get { state.withLock { $0.collectsData } }
    set { state.withLock { $0.collectsData = newValue } }
  }
  /// The users of the app's databases.
  let auth: Auth
  private let given: FirebaseOptions.Values?
  private let projectID: String
  private let server: ServerChoice
  private let assembler: Assembler
  private let state = Mutex(State())

  private struct State {
    var collectsData = true
    var databases: [ServerChoice: Database] = [:]
    /// By the id of the database; one that was terminated makes way for a new one.
    var firestores: [String: Firestore] = [:]
    var isDeleted = false
  }

  private init(
    name: String, projectID: String, options: FirebaseOptions.Values? = nil,
    configuration: Configuration, assembler: Assembler
  ) {
    self.name = name
    self.projectID = projectID
    given = options
    var server = ServerChoice(configuration: configuration)
    if let text = options?.databaseURL {
      server = server.reaching(Misuse.address(text), isOther: false)
    }
    self.server = server
    self.assembler = assembler
    let kept = configuration.keepingAuth
    let close = Mutex<(@Sendable () -> Void)?>(nil)
    auth = Auth(
      closing: { close.withLock { $0 }?() },
      opening: {
        let store = try await assembler.store(from: kept)
        close.withLock { $0 = { store.close() } }
        return try ClientAuth(store: store, ambient: assembler.ambient)
      })
  }

  /// Says where the data is kept and which server is meant.
  ///
  /// - Parameter projectID: The project that documents belong to.
  /// - Precondition: No app of this name was configured before.
  @discardableResult
  public static func configure(
    name: String = defaultName, projectID: String = "tern",
    configuration: Configuration = .standard,
    assembler: Assembler = Assembler(catalog: .firebase)
  ) -> FirebaseApp {
    add(
      FirebaseApp(
        name: name, projectID: projectID, configuration: configuration, assembler: assembler))
  }

  /// Configures the default app, with the options of ``FirebaseOptions/defaultOptions()`` if the
  /// program has them; else a server on this machine is meant.
  ///
  /// - Precondition: The default app was not configured before.
  public static func configure() { add(standardApp()) }

  /// Configures the default app.
  ///
  /// - Precondition: The default app was not configured before, and the options name a valid
  ///   address.
  public static func configure(options: FirebaseOptions) {
    configure(name: defaultName, options: options)
  }

  /// Configures an app of a name.
  ///
  /// - Precondition: No app of this name was configured before, and the options name a valid
  ///   address.
  public static func configure(name: String, options: FirebaseOptions) {
    configure(
      name: name, options: options, configuration: .standard,
      assembler: Assembler(catalog: .firebase))
  }

  /// Configures an app of a name, with parts other than the standard ones.
  ///
  /// - Precondition: No app of this name was configured before, and the options name a valid
  ///   address.
  @discardableResult
  public static func configure(
    name: String, options: FirebaseOptions, configuration: Configuration, assembler: Assembler
  ) -> FirebaseApp {
    let values = options.values
    return add(
      FirebaseApp(
        name: name, projectID: values.projectID ?? "tern", options: values,
        configuration: configuration, assembler: assembler))
  }

  /// The app of a name, if it was configured.
  public static func app(name: String = defaultName) -> FirebaseApp? {
    apps.withLock { $0[name] }
  }

  /// All apps that were configured, by name; `nil` when none was.
  public static var allApps: [String: FirebaseApp]? {
    apps.withLock { $0.isEmpty ? nil : $0 }
  }

  /// A copy of the options that the app was configured with; of others, those that mean the same.
  public var options: FirebaseOptions {
    if let given { return FirebaseOptions(given) }
    var values = FirebaseOptions.Values(gcmSenderID: "", googleAppID: "")
    values.projectID = projectID
    values.databaseURL = server.address
    return FirebaseOptions(values)
  }

  /// Ends the app: its databases are closed, and its name is free again. Queued writes stay on the
  /// device.
  ///
  /// - Returns: Whether it was still there.
  @discardableResult
  public func delete() async -> Bool {
    let isFirst = FirebaseApp.apps.withLock { apps in
      guard apps[name] === self else { return false }
      apps[name] = nil
      return true
    }
    guard isFirst else { return false }
    let (databases, firestores) = state.withLock { state in
      defer { (state.databases, state.firestores, state.isDeleted) = ([:], [:], true) }
      return (state.databases.values, state.firestores.values)
    }
    for database in databases { await database.close() }
    for firestore in firestores { try? await firestore.terminate() }
    await auth.close()
    return true
  }

  /// The same; `completion` is called on the main queue with whether it was still there.
  public func delete(_ completion: @escaping (Bool) -> Void) {
    let callback = Callback<Bool, Void> { isFirst, _ in completion(isFirst) }
    Task { [self] in
      let isFirst = await delete()
      DispatchQueue.main.async { callback(isFirst, ()) }
    }
  }

  /// The default app; it is configured as ``configure()`` does if the program did not.
  static var standard: FirebaseApp {
    apps.withLock { apps in
      if let app = apps[defaultName] { return app }
      let app = standardApp()
      apps[defaultName] = app
      return app
    }
  }

  private static func standardApp() -> FirebaseApp {
    let options = FirebaseOptions.defaultOptions()?.values
    return FirebaseApp(
      name: defaultName, projectID: options?.projectID ?? "tern", options: options,
      configuration: .standard, assembler: Assembler(catalog: .firebase))
  }

  @discardableResult
  private static func add(_ app: FirebaseApp) -> FirebaseApp {
    apps.withLock { apps in
      precondition(apps[app.name] == nil, "The app \"\(app.name)\" is configured already.")
      apps[app.name] = app
    }
    return app
  }

  /// Tells a developer what a client has to say.
  static let report: @Sendable (ClientNotice) -> Void = { notice in
    DebugLog.write("\(notice)")
  }

  /// The documents of a database of this app.
  ///
  /// - Precondition: `id` is the id of a database, and the app was not deleted.
  func firestore(_ id: String) -> Firestore {
    state.withLock { state in
      precondition(!state.isDeleted, "The app \"\(name)\" was deleted.")
      if let known = state.firestores[id], !known.isTerminated { return known }
      let firestore = Firestore(
        app: self, database: Misuse.database(id, of: projectID),
        configuration: server.configuration, assembler: assembler)
      state.firestores[id] = firestore
      return firestore
    }
  }

  /// The tree database that an address names; without one the app's own.
  ///
  /// - Precondition: `url` is the address of the root of a database, and the app was not deleted.
  func database(_ url: String? = nil) -> Database {
    let choice = url.map { server.reaching(Misuse.address($0), isOther: true) } ?? server
    return state.withLock { state in
      precondition(!state.isDeleted, "The app \"\(name)\" was deleted.")
      if let known = state.databases[choice] { return known }
      let database = Database(choice, of: self, auth: auth, assembler: assembler)
      state.databases[choice] = database
      return database
    }
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
  public static func database() -> Database { FirebaseApp.standard.database() }

  /// The database of an app.
  public static func database(app: FirebaseApp) -> Database { app.database() }

  /// The database of the default app that an address names, such as
  /// `http://localhost:9000?ns=chat`.
  ///
  /// - Precondition: `url` is the address of the root of a database; see
  ///   ``FirebaseOptions/databaseURL``.
  public static func database(url: String) -> Database { FirebaseApp.standard.database(url) }

  /// The database of an app that an address names.
  ///
  /// - Precondition: `url` is the address of the root of a database; see
  ///   ``FirebaseOptions/databaseURL``.
  public static func database(app: FirebaseApp, url: String) -> Database { app.database(url) }

  /// Makes the database of an app.
  fileprivate convenience init(
    _ choice: ServerChoice, of app: FirebaseApp, auth: Auth, assembler: Assembler
  ) {
    self.init(
      address: choice.address, namespace: choice.namespace, ambient: assembler.ambient, owner: app
    ) { settings in
      var options = settings.clientOptions
      options.namespace = choice.namespace
      // A device that cannot keep who is signed in still has its data.
      options.auth = try? await auth.native()
      return try await assembler.client(
        from: settings.applied(to: choice.configuration), options: options)
    }
  }
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
