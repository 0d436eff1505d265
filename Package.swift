// swift-tools-version: 6.3
import PackageDescription

// Every module and every dependency it may have, lowest layer first. A line here may only name
// lines above it; `Tools/tidy` checks the imports against this file.

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableExperimentalFeature("Lifetimes"),
  .strictMemorySafety(),
]

/// A library target in `Modules/<name>`, named `Tern<name>` because target names are global;
/// `others` are folders in it that hold no Swift.
func module(
  _ name: String, _ dependencies: [Target.Dependency] = [], linking: [LinkerSetting] = [],
  others: [String] = []
) -> Target {
  .target(
    name: "Tern" + name, dependencies: dependencies, path: "Modules/" + name, exclude: others,
    swiftSettings: strict, linkerSettings: linking)
}

/// A target in `Modules/FirebaseShims/<name>` that passes on names of `TernFirebaseCompat`, called
/// as Firebase calls its module.
func shim(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(
    name: "Firebase" + name, dependencies: ["TernFirebaseCompat"] + dependencies,
    path: "Modules/FirebaseShims/" + name, swiftSettings: strict)
}

/// An executable target in `Apps/<folder>` or `Tools/<folder>`.
func program(_ name: String, at path: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: strict)
}

/// The tests in `Tests/<name>`; `others` are folders in it that hold no Swift. Without package
/// access they see what programs outside of the package see.
func tests(
  _ name: String, _ dependencies: [Target.Dependency], others: [String] = [],
  packageAccess: Bool = true
) -> Target {
  .testTarget(
    name: "Tern" + name + "Tests", dependencies: dependencies, path: "Tests/" + name,
    exclude: others, packageAccess: packageAccess, swiftSettings: strict)
}

/// A product of another package, perhaps with one trait alone.
func product(_ name: String, _ package: String, _ trait: String? = nil) -> Target.Dependency {
  .product(name: name, package: package, condition: trait.flatMap { .when(traits: [$0]) })
}
func network(_ name: String, _ package: String = "swift-nio") -> Target.Dependency {
  product(name, package, "TCP")
}

let nioCore = network("NIOCore")
let nioPosix = network("NIOPosix")
let nioHTTP1 = network("NIOHTTP1")
let nioWebSocket = network("NIOWebSocket")
let nioHTTP2 = network("NIOHTTP2", "swift-nio-http2")
let nioHPACK = network("NIOHPACK", "swift-nio-http2")
let nioSSL = product("NIOSSL", "swift-nio-ssl", "TLS")
let nioTLS = network("NIOTLS")
let jwtKit = product("JWTKit", "jwt-kit", "Tokens")
/// LMDB on Linux alone: an application needs no library that its system lacks.
let linuxLMDB = Target.Dependency.target(
  name: "TernStorageLMDB", condition: .when(platforms: [.linux], traits: ["LMDB"]))
let protobuf = product("SwiftProtobuf", "swift-protobuf")
let nioEmbedded = network("NIOEmbedded")
let tracing = product("Tracing", "swift-distributed-tracing")
let inMemoryTracing = product("InMemoryTracing", "swift-distributed-tracing")
let logging = product("Logging", "swift-log")
let arguments = product("ArgumentParser", "swift-argument-parser")

let layers: [Target] = [
  // 0 · values, bytes, frames
  // Rounding calls the C library's mathematics, which nothing else links on Linux.
  module("Core", linking: [.linkedLibrary("m", .when(platforms: [.linux, .android]))]),
  module("Storage"),
  module("Transport"),

  // 1 · what a query means; where bytes rest; how frames travel
  module("Query", ["TernCore"]),
  .systemLibrary(
    name: "CSQLite", path: "Modules/CSQLite", pkgConfig: "sqlite3",
    providers: [.apt(["libsqlite3-dev"])]),
  // Page checksums, as a file system of SQLite's, in C: SQLite calls it with pointers to functions.
  .target(
    name: "CSQLitePages", dependencies: ["CSQLite"], path: "Modules/CSQLitePages",
    linkerSettings: [.linkedLibrary("sqlite3")]),
  .systemLibrary(
    name: "CLMDB", path: "Modules/CLMDB", providers: [.apt(["liblmdb-dev"])]),
  .systemLibrary(
    name: "CZlib", path: "Modules/CZlib", pkgConfig: "zlib",
    providers: [.apt(["zlib1g-dev"])]),
  module("StorageMemory", ["TernStorage"]),
  module("StorageSQLite", ["TernStorage", "CSQLite", "CSQLitePages"]),
  module("StorageLMDB", ["TernStorage", "CLMDB"]),
  module("Sync", ["TernStorage"]),
  module("TransportLoopback", ["TernTransport"]),
  module("TransportTCP", ["TernTransport", nioCore, nioPosix, nioSSL, nioTLS]),
  module(
    "TransportWebSocket",
    ["TernTransport", "TernTransportTCP", "TernSync", nioCore, nioHTTP1, nioWebSocket]),
  module("Ledger", ["TernStorage"]),
  module("CommitLog", ["TernStorage"]),
  module("LogMemory", ["TernCommitLog", "TernStorage"]),
  module("SharedLedger", ["TernStorage", "TernLedger", "TernCommitLog"]),
  // libpq, loaded when it is used: nothing is linked, and no header of it is needed.
  .target(name: "CPostgres", path: "Modules/CPostgres"),
  module("LogPostgres", ["TernCommitLog", "TernStorage", "CPostgres"]),

  // 2 · meaning on the left, floor on the right
  module("Security", ["TernCore", "TernQuery"]),
  module("Tokens", ["TernCore", "TernSecurity", jwtKit]),
  module("TreeWire", ["TernCore", "TernQuery"]),
  module("DocumentWire", ["TernCore", "TernQuery"]),
  // The same messages as proto3 JSON, by generated code.
  module("DocumentJSON", ["TernCore", "TernDocumentWire", protobuf], others: ["Protos"]),
  module("Transactions", ["TernSync"]),
  module("Presence", ["TernStorage"]),

  // 3 · engines: a replica for clients, an authority for servers
  module("TreeRows", ["TernCore", "TernQuery", "TernStorage"]),
  module("TreeReplica", ["TernCore", "TernQuery", "TernStorage", "TernSync", "TernTreeRows"]),
  module("DocumentReplica", ["TernCore", "TernQuery", "TernStorage", "TernSync"]),
  module(
    "TreeAuthority", ["TernCore", "TernQuery", "TernStorage", "TernLedger", "TernTreeRows"]),
  module(
    "DocumentAuthority", ["TernCore", "TernQuery", "TernStorage", "TernLedger"]),

  // 4 · ends
  module(
    "Client",
    [
      "TernCore", "TernQuery", "TernStorage", "TernStorageMemory", "TernTransport", "TernSync",
      "TernTransactions", "TernTreeWire", "TernTreeReplica", "TernDocumentWire",
      "TernDocumentReplica",
    ]),
  module(
    "Server",
    [
      "TernCore", "TernQuery", "TernStorage", "TernTransport", "TernSync", "TernLedger",
      "TernSecurity", "TernPresence", "TernTreeWire", "TernTreeRows", "TernTreeAuthority",
      "TernDocumentWire", "TernDocumentAuthority", tracing,
    ]),

  // 5 · outside
  module(
    "Kit",
    [
      "TernCore", "TernQuery", "TernStorage", "TernStorageMemory", "TernStorageSQLite",
      "TernTransport", "TernTransportTCP", "TernTransportWebSocket", "TernSync", "TernTransactions",
      "TernClient",
    ]),
  module(
    "Gateway",
    [
      "TernCore", "TernQuery", "TernTransport", "TernTransportTCP", "TernTransportWebSocket",
      "TernSync", "TernLedger", "TernSecurity", "TernTreeWire", "TernDocumentWire",
      "TernDocumentJSON", "TernServer", "CZlib", nioCore, nioHTTP1, nioHTTP2, nioHPACK,
    ], others: ["Console/Web"]),
  module("Assembly", ["TernCore", "TernStorage", "TernTransport", "TernSync", "TernClient"]),
  module(
    "ServerAssembly",
    [
      "TernStorage", "TernTransport", "TernSync", "TernLedger", "TernSecurity", "TernServer",
      "TernAssembly",
    ]),
  module(
    "Standard",
    [
      "TernAssembly", "TernStorageMemory", "TernStorageSQLite", linuxLMDB,
      "TernTransportLoopback", "TernTransportTCP", "TernTransportWebSocket",
    ]),
  module(
    "ServerKit",
    [
      "TernAssembly", "TernGateway", "TernSecurity", "TernServer", "TernServerAssembly",
      "TernStandard", "TernTokens",
    ]),
  module(
    "FirebaseCompat",
    [
      "TernCore", "TernQuery", "TernStorage", "TernSync", "TernTransactions", "TernTreeReplica",
      "TernDocumentReplica", "TernClient", "TernAssembly", "TernStorageMemory",
      "TernStorageSQLite", "TernTransportTCP",
    ]),
  // Firebase's own module names, so that not even an import line changes.
  shim("Core", []),
  shim("Auth", ["FirebaseCore"]),
  shim("Database", ["FirebaseCore"]),
  shim("Firestore", ["FirebaseCore"]),
  module(
    "TestKit",
    ["TernStorage", "TernStorageMemory", "TernTransport", "TernSync", "TernCommitLog"]),
]

/// Modules whose declarations are for this package alone: no library product.
let internalModules: Set = [
  "CPostgres", "CSQLitePages", "TernDocumentWire", "TernDocumentJSON", "TernTreeReplica",
  "TernTreeAuthority", "TernDocumentReplica", "TernDocumentAuthority",
]

/// The commit that `Tools/package` builds from, for `tern --version`.
let commit: [CSetting] =
  Context.environment["TERN_COMMIT"].map { [.define("TERN_COMMIT", to: "\"\($0)\"")] } ?? []

/// The samples that talk to any server, and play with one of their own.
let samples = ["cities", "feed", "presence", "scores"].map {
  program($0, at: "Apps/" + $0, ["TernSampleOptions", "TernKit", "TernServerKit", arguments])
}

let programs: [Target] = [
  .target(name: "CBuildInfo", path: "Modules/CBuildInfo", cSettings: commit),
  program(
    "tern", at: "Apps/tern",
    [
      "TernCore", "TernQuery", "TernStorage", "TernSync", "TernSecurity", "TernClient",
      "TernDocumentReplica", "TernTransport", "TernTransportTCP", "TernTokens", "TernLedger",
      "TernServer", "TernGateway", "TernAssembly", "TernCommitLog", "TernLogPostgres",
      "TernSharedLedger", "TernServerAssembly", "TernStandard", "CBuildInfo", arguments, logging,
      nioCore, nioPosix, nioHTTP1,
    ]),
  program(
    "tern-torture", at: "Tools/torture",
    [
      "TernCore", "TernQuery", "TernSync", "TernTransactions", "TernDocumentReplica", "TernClient",
      "TernAssembly", "TernStandard", arguments,
    ]),
  program("first", at: "Apps/first", ["TernKit"]),
  // The flags that the sample programs share: from files, variables and flags to a client.
  .target(
    name: "TernSampleOptions",
    dependencies: ["TernKit", "TernAssembly", "TernStandard", arguments],
    path: "Apps/options", swiftSettings: strict),
  // Sees what programs outside of the package see.
  .executableTarget(
    name: "guestbook", dependencies: ["TernKit", "TernServerKit", arguments],
    path: "Apps/guestbook", resources: [.embedInCode("guestbook.rules.json")],
    packageAccess: false, swiftSettings: strict),
  program("tern-tidy", at: "Tools/tern-tidy", []),
  program(
    "tern-bench", at: "Tools/bench",
    [
      "TernStorage", "TernStorageMemory", "TernStorageSQLite", "TernStorageLMDB", "CSQLite",
      "CLMDB", "TernTransport", "TernTransportTCP", nioCore, nioPosix, "TernCore", "TernQuery",
      "TernSync", "TernTransportLoopback", "TernLedger", "TernTreeWire", "TernDocumentReplica",
      "TernDocumentAuthority", "TernDocumentWire", "TernSecurity", "TernClient", "TernServer",
      "TernServerAssembly", "TernGateway", nioHTTP1, nioHTTP2, nioHPACK, "TernCommitLog",
      "TernLogPostgres", "CPostgres", arguments,
    ]),
  .target(
    name: "TernSpecReplay",
    dependencies: [
      "TernCore", "TernQuery", "TernStorage", "TernStorageMemory", "TernStorageSQLite",
      "TernStorageLMDB", "TernSecurity", "TernTreeReplica", "TernDocumentReplica", "TernLedger",
      "TernDocumentWire", "TernDocumentJSON", "TernServer",
    ],
    path: "Tools/spec/Replay", swiftSettings: strict),
  // The recordings that need a server, which the others do not build.
  .target(
    name: "TernSpecServed",
    dependencies: [
      "TernCore", "TernSpecReplay", "TernStorageMemory", "TernTransportTCP", "TernSync",
      "TernLedger", "TernSecurity", "TernServer", "TernGateway",
    ],
    path: "Tools/spec/Served", swiftSettings: strict),
  program("tern-spec", at: "Tools/spec/Program", ["TernSpecReplay", "TernSpecServed"]),
  // Clients, a server, links, disks and faults in one thread: for the tests and `tern-simulate`.
  .target(
    name: "TernSimulation",
    dependencies: [
      "TernCore", "TernQuery", "TernStorage", "TernTransport", "TernLedger", "TernSecurity",
      "TernSync", "TernTransactions", "TernTreeWire", "TernTreeRows", "TernTreeReplica",
      "TernTreeAuthority", "TernDocumentWire", "TernDocumentReplica", "TernClient", "TernServer",
      "TernDocumentAuthority", "TernCommitLog", "TernLogMemory", "TernSharedLedger", "TernTestKit",
    ], path: "Tests/SimulationWorlds", swiftSettings: strict),
  program("tern-simulate", at: "Tools/simulate", ["TernServer", "TernSimulation"]),
  program(
    "tern-fuzz", at: "Tools/fuzz",
    [
      "TernCore", "TernStorage", "TernStorageMemory", "TernTransport", "TernTransportTCP",
      "TernQuery", "TernSync", "TernLedger", "TernSecurity", "TernTokens", "TernTreeWire",
      "TernDocumentWire", "TernDocumentJSON", "TernTreeRows", "TernGateway", nioCore, nioEmbedded,
      arguments,
    ]),
]

let testSuites: [Target] = [
  tests("Core", ["TernCore", "TernTestKit"]),
  tests(
    "Storage",
    [
      "TernStorage", "TernStorageMemory", "TernStorageSQLite", "TernStorageLMDB", "CSQLite",
      "TernTestKit",
    ]),
  // The ends of links that tests hold: receivers, echoes, and listeners behind a relay.
  .target(
    name: "TernLinkTesting", dependencies: ["TernTransport", "TernTransportTCP"],
    path: "Tests/LinkTesting", swiftSettings: strict),
  // PostgreSQL as tests start it, and proxies that cut connections.
  .target(
    name: "TernPostgresTesting", path: "Tests/PostgresTesting", swiftSettings: strict),
  tests(
    "CommitLog",
    [
      "TernStorage", "TernStorageSQLite", "TernLedger", "TernCommitLog", "TernLogMemory",
      "TernLogPostgres", "TernTestKit", "TernPostgresTesting",
    ]),
  tests("Ledger", ["TernStorage", "TernStorageMemory", "TernLedger", "TernTestKit"]),
  tests(
    "SharedLedger",
    [
      "TernStorage", "TernStorageMemory", "TernLedger", "TernCommitLog", "TernLogMemory",
      "TernSharedLedger", "TernTestKit",
    ]),
  tests(
    "Server",
    [
      "TernCore", "TernQuery", "TernStorage", "TernStorageMemory", "TernStorageSQLite",
      "TernStorageLMDB", "TernTransport", "TernTransportLoopback", "TernSync", "TernLedger",
      "TernSecurity", "TernPresence", "TernTreeWire", "TernTreeRows", "TernTreeAuthority",
      "TernDocumentWire", "TernDocumentJSON", "TernDocumentAuthority", "TernServer", "TernTestKit",
      "TernLinkTesting", tracing, inMemoryTracing,
    ]),
  tests(
    "Gateway",
    [
      "TernGateway", "TernCore", "TernQuery", "TernStorage", "TernStorageMemory",
      "TernStorageSQLite", "TernStorageLMDB", "TernTransport", "TernTransportTCP",
      "TernTransportWebSocket", "TernLedger", "TernSecurity", "TernTokens", "TernTreeWire",
      "TernDocumentWire", "TernDocumentJSON", "TernServer", "TernSync", "TernClient",
      "TernAssembly", "TernFirebaseCompat", "TernTestKit", nioCore, nioEmbedded, nioHPACK,
    ]),
  tests("Presence", ["TernStorage", "TernStorageMemory", "TernPresence"]),
  tests(
    "TreeReplica",
    [
      "TernCore", "TernQuery", "TernStorage", "TernStorageMemory", "TernTreeReplica", "TernTestKit",
    ]),
  tests(
    "TreeAuthority",
    [
      "TernCore", "TernQuery", "TernStorage", "TernStorageMemory", "TernLedger", "TernTreeRows",
      "TernTreeAuthority", "TernTestKit",
    ]),
  tests(
    "DocumentReplica",
    [
      "TernCore", "TernQuery", "TernStorage", "TernStorageMemory", "TernStorageSQLite",
      "TernStorageLMDB", "TernDocumentReplica", "TernTestKit",
    ]),
  tests(
    "DocumentAuthority",
    [
      "TernCore", "TernQuery", "TernStorage", "TernStorageMemory", "TernStorageSQLite",
      "TernStorageLMDB", "TernLedger", "TernDocumentAuthority", "TernTestKit",
    ]),
  tests("Security", ["TernCore", "TernQuery", "TernSecurity", "TernTestKit"]),
  tests("Tokens", ["TernCore", "TernSecurity", "TernTokens", jwtKit]),
  tests("Sync", ["TernSync", "TernStorage", "TernStorageMemory", "TernTestKit"]),
  tests("Transactions", ["TernSync", "TernTransactions"]),
  tests(
    "Client",
    [
      "TernClient", "TernCore", "TernLedger", "TernQuery", "TernSecurity", "TernServer",
      "TernStorage", "TernStorageMemory", "TernSync", "TernTransactions", "TernTransport",
      "TernTransportLoopback", "TernDocumentReplica", "TernDocumentWire",
      "TernTreeReplica", "TernTreeWire", "TernTestKit",
    ]),
  tests(
    "Assembly",
    [
      "TernCore", "TernAssembly", "TernServerAssembly", "TernClient", "TernSync", "TernServer",
      "TernStorage", "TernStorageMemory", "TernStorageSQLite", "TernStorageLMDB", "TernTransport",
      "TernTransportLoopback", "TernTestKit",
    ]),
  tests(
    "Cluster",
    [
      "TernCore", "TernStorage", "TernStorageMemory", "TernTransport", "TernTransportLoopback",
      "TernLedger", "TernCommitLog", "TernLogMemory", "TernSharedLedger", "TernServer",
      "TernClient", "TernSync", "TernAssembly", "TernServerAssembly", "TernTestKit", "TernQuery",
      "TernTreeWire", "TernSecurity", "TernLinkTesting",
    ]),
  tests(
    "Plugins",
    [
      "TernCore", "TernStorage", "TernStorageMemory", "TernTransport", "TernTransportLoopback",
      "TernLedger", "TernSecurity", "TernServer", "TernClient", "TernAssembly",
      "TernServerAssembly", "TernTestKit",
    ], packageAccess: false),
  tests(
    "CommandLine",
    [
      "tern", "TernCore", "TernStorage", "TernTransport", "TernSync", "TernClient", "TernServer",
      "TernAssembly", "TernTransportTCP", "TernLinkTesting", "TernPostgresTesting", "TernLedger",
      "TernQuery", "TernSecurity", "TernTestKit", arguments, logging,
    ]),
  tests(
    "Kit",
    [
      "TernKit", "TernServerKit", "TernAssembly", "TernStandard", "TernServer", "TernLedger",
      "TernSecurity", "TernStorageMemory", "TernTransportLoopback",
    ]),
  tests(
    "EndToEnd",
    [
      "first", "tern", "tern-torture", "cities", "feed", "guestbook", "presence", "scores",
      "TernCore", "TernClient", "TernAssembly", "TernStandard", "TernFirebaseCompat", "TernSync",
      "TernTestKit", "TernPostgresTesting",
    ], others: ["Admin", "Console"]),
  tests("Spec", ["TernSpecReplay", "TernSpecServed"]),
  tests("Simulation", ["TernServer", "TernSharedLedger", "TernSimulation"]),
  tests("Query", ["TernCore", "TernQuery", "TernTestKit"]),
  tests("TreeWire", ["TernCore", "TernQuery", "TernTreeWire", "TernTestKit"]),
  tests(
    "DocumentWire",
    ["TernCore", "TernQuery", "TernDocumentWire", "TernDocumentJSON", "TernTestKit", protobuf]),
  // Code as Firebase's guide prints it, under Firebase's module names and nothing else.
  .target(
    name: "TernFirebaseSnippets",
    dependencies: ["FirebaseAuth", "FirebaseDatabase", "FirebaseFirestore"],
    path: "Tests/FirebaseSnippets"),
  tests(
    "Acceptance",
    [
      "TernFirebaseCompat", "TernFirebaseSnippets", "FirebaseAuth", "FirebaseDatabase",
      "FirebaseFirestore", "TernAssembly", "TernServerAssembly", "TernStandard", "TernClient",
      "TernCore", "TernQuery", "TernSync", "TernSecurity", "TernTokens", "TernLedger", "TernServer",
      "TernDocumentReplica", "TernDocumentWire", "TernStorage", "TernStorageMemory",
      "TernStorageSQLite", "TernStorageLMDB", "TernTransactions", "TernTransport",
      "TernTransportLoopback", "TernTransportTCP", "TernTestKit", nioCore, nioPosix,
    ]),
  tests(
    "FirebaseCompat",
    [
      "TernFirebaseCompat", "FirebaseCore", "FirebaseAuth", "FirebaseDatabase",
      "FirebaseFirestore", "TernAssembly", "TernServerAssembly", "TernStandard", "TernClient",
      "TernCore", "TernQuery", "TernSync",
    ], others: ["Firebase.txt"]),
  tests("TransportLoopback", ["TernTransport", "TernTransportLoopback"]),
  tests("TransportTCP", ["TernTransport", "TernTransportTCP", "TernLinkTesting"]),
  tests("TransportTCPAccepting", ["TernTransportTCP", nioCore, nioEmbedded, nioPosix]),
  tests("Tidy", ["tern-tidy"]),
  tests(
    "Contracts",
    [
      "TernStorage", "TernStorageMemory", "TernStorageSQLite", "TernStorageLMDB", "TernTransport",
      "TernTransportLoopback", "TernTransportTCP", "TernTransportWebSocket", "TernTestKit",
    ]),
]

/// The programs and suites named in `TERN_ONLY` ("Server,Gateway,tern"), with the programs that
/// they run; all when it is not set. A change is built and tried in a part of the time.
func selected(_ targets: [Target]) -> [Target] {
  guard let list = Context.environment["TERN_ONLY"] else { return targets }
  let names = list.split(separator: ",").map(String.init)
  var kept = Set(names + names.map { "Tern" + $0 + "Tests" })
  var size = 0
  while size != kept.count {
    size = kept.count
    for target in targets where kept.contains(target.name) {
      for case .byNameItem(let name, _) in target.dependencies { kept.insert(name) }
    }
  }
  return targets.filter { kept.contains($0.name) }
}

let package = Package(
  name: "tern",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: layers.filter { $0.type == .regular && !internalModules.contains($0.name) }.map {
    .library(name: $0.name, targets: [$0.name])
  },
  traits: [
    .trait(name: "TCP", description: "TransportTCP over swift-nio; off, no network code is built."),
    .trait(name: "TLS", description: "TLS over swift-nio-ssl.", enabledTraits: ["TCP"]),
    .trait(
      name: "LMDB", description: "LMDB among the stores of Standard, on Linux; off, no liblmdb."),
    .trait(name: "Tokens", description: "JSON Web Tokens over jwt-kit; off, no key can be read."),
    .default(enabledTraits: ["TCP", "TLS", "LMDB", "Tokens"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
  ],
  targets: layers + selected(programs + samples + testSuites),
  swiftLanguageModes: [.v6]
)
