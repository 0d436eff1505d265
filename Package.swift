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

/// A library target in `Modules/<name>`, named `Tern<name>` because target names are global.
func module(
  _ name: String, _ dependencies: [Target.Dependency] = [], linking: [LinkerSetting] = []
) -> Target {
  .target(
    name: "Tern" + name, dependencies: dependencies, path: "Modules/" + name,
    swiftSettings: strict, linkerSettings: linking)
}

/// An executable target in `Apps/<folder>` or `Tools/<folder>`.
func program(_ name: String, at path: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: strict)
}

/// The tests in `Tests/<name>`; `others` are folders in it that hold no Swift.
func tests(
  _ name: String, _ dependencies: [Target.Dependency], others: [String] = []
) -> Target {
  .testTarget(
    name: "Tern" + name + "Tests", dependencies: dependencies, path: "Tests/" + name,
    exclude: others, swiftSettings: strict)
}

let nioCore = Target.Dependency.product(
  name: "NIOCore", package: "swift-nio", condition: .when(traits: ["TCP"]))
let nioPosix = Target.Dependency.product(
  name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["TCP"]))
let nioHTTP1 = Target.Dependency.product(
  name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["TCP"]))
let nioSSL = Target.Dependency.product(
  name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["TCP"]))
let nioTLS = Target.Dependency.product(
  name: "NIOTLS", package: "swift-nio", condition: .when(traits: ["TCP"]))
let jwtKit = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let protobuf = Target.Dependency.product(name: "SwiftProtobuf", package: "swift-protobuf")
let nioEmbedded = Target.Dependency.product(
  name: "NIOEmbedded", package: "swift-nio", condition: .when(traits: ["TCP"]))
let arguments = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser")

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
  module("StorageMemory", ["TernStorage"]),
  module("StorageSQLite", ["TernStorage", "CSQLite", "CSQLitePages"]),
  module("StorageLMDB", ["TernStorage", "CLMDB"]),
  module("TransportLoopback", ["TernTransport"]),
  module("TransportTCP", ["TernTransport", nioCore, nioPosix, nioSSL, nioTLS]),
  module("Sync", ["TernStorage"]),
  module("Ledger", ["TernStorage"]),

  // 2 · meaning on the left, floor on the right
  module("Security", ["TernCore", "TernQuery"]),
  module("Tokens", ["TernCore", "TernSecurity", jwtKit]),
  module("TreeWire", ["TernCore", "TernQuery"]),
  module("DocumentWire", ["TernCore", "TernQuery"]),
  module("Transactions", ["TernSync"]),
  module("Presence", ["TernStorage", "TernSync"]),

  // 3 · engines
  module(
    "TreeEngine",
    [
      "TernCore", "TernQuery", "TernStorage", "TernSync", "TernLedger", "TernTransactions",
    ]),

  module(
    "DocumentEngine",
    [
      "TernCore", "TernQuery", "TernStorage", "TernSync", "TernLedger", "TernTransactions",
    ]),

  // 4 · ends
  module(
    "Client",
    [
      "TernCore", "TernQuery", "TernStorage", "TernStorageMemory", "TernTransport", "TernSync",
      "TernTransactions",
      "TernPresence", "TernTreeWire", "TernTreeEngine", "TernDocumentWire", "TernDocumentEngine",
    ]),
  module(
    "Server",
    [
      "TernCore", "TernQuery", "TernStorage", "TernTransport", "TernSync", "TernLedger",
      "TernSecurity", "TernPresence", "TernTreeWire", "TernTreeEngine",
      "TernDocumentWire", "TernDocumentEngine",
    ]),

  // 5 · outside
  module(
    "Gateway",
    [
      "TernCore", "TernQuery", "TernTransport", "TernTransportTCP", "TernSync", "TernSecurity",
      "TernTreeWire", "TernServer", nioCore, nioHTTP1,
    ]),
  module(
    "Assembly",
    [
      "TernCore", "TernStorage", "TernTransport", "TernSync", "TernLedger", "TernSecurity",
      "TernClient", "TernServer",
    ]),
  module(
    "Standard",
    [
      "TernAssembly", "TernStorageMemory", "TernStorageSQLite", "TernStorageLMDB",
      "TernTransportLoopback", "TernTransportTCP",
    ]),
  module(
    "FirebaseCompat",
    [
      "TernCore", "TernQuery", "TernSync", "TernTransactions", "TernTreeEngine",
      "TernDocumentEngine", "TernClient", "TernAssembly", "TernStandard",
    ]),
  module(
    "TestKit",
    ["TernStorage", "TernStorageMemory", "TernTransport", "TernSync"]),
  module(
    "Simulation",
    [
      "TernCore", "TernQuery", "TernStorage", "TernStorageMemory", "TernTransport", "TernSync",
      "TernLedger", "TernSecurity", "TernPresence", "TernTransactions", "TernTreeWire",
      "TernTreeEngine", "TernDocumentWire", "TernDocumentEngine", "TernClient", "TernServer",
      "TernTestKit",
    ]),
]

let programs: [Target] = [
  program(
    "tern", at: "Apps/tern",
    [
      "TernCore", "TernQuery", "TernStorage", "TernSync", "TernSecurity", "TernClient",
      "TernDocumentEngine", "TernTransport", "TernTransportTCP", "TernTokens", "TernServer",
      "TernGateway", "TernAssembly",
      "TernStandard", arguments,
    ]),
  program(
    "tern-torture", at: "Tools/torture",
    [
      "TernCore", "TernQuery", "TernSync", "TernTransactions", "TernDocumentEngine", "TernClient",
      "TernAssembly", "TernStandard", arguments,
    ]),
  program(
    "cities", at: "Apps/cities",
    ["TernCore", "TernClient", "TernAssembly", "TernStandard", arguments]),
  program(
    "feed", at: "Apps/feed",
    ["TernCore", "TernSync", "TernClient", "TernAssembly", "TernStandard", arguments]),
  program(
    "presence", at: "Apps/presence",
    ["TernCore", "TernSync", "TernClient", "TernAssembly", "TernStandard", arguments]),
  program(
    "scores", at: "Apps/scores",
    ["TernCore", "TernSync", "TernClient", "TernAssembly", "TernStandard", arguments]),
  program("tern-tidy", at: "Tools/tern-tidy", []),
  program(
    "tern-bench", at: "Tools/bench",
    [
      "TernStorage", "TernStorageMemory", "TernStorageSQLite", "TernStorageLMDB", "CSQLite",
      "CLMDB", "TernTransport", "TernTransportTCP", nioCore, nioPosix, "TernCore", "TernQuery",
      "TernSync", "TernTransportLoopback", "TernLedger", "TernTreeWire", "TernDocumentEngine",
      "TernDocumentWire", "TernSecurity", "TernClient", "TernServer", "TernGateway", nioHTTP1,
    ]),
  .target(
    name: "TernSpecReplay",
    dependencies: [
      "TernCore", "TernQuery", "TernStorage", "TernStorageMemory", "TernStorageSQLite",
      "TernStorageLMDB", "TernSecurity", "TernTreeEngine", "TernDocumentEngine",
    ],
    path: "Tools/spec/Replay", swiftSettings: strict),
  program("tern-spec", at: "Tools/spec/Program", ["TernSpecReplay"]),
  program("tern-simulate", at: "Tools/simulate", ["TernSimulation"]),
  program(
    "tern-fuzz", at: "Tools/fuzz",
    [
      "TernCore", "TernStorage", "TernStorageMemory", "TernTransport", "TernTransportTCP",
      "TernQuery", "TernSync", "TernLedger", "TernSecurity", "TernTokens", "TernTreeWire",
      "TernDocumentWire", "TernTreeEngine", "TernGateway", nioCore, nioEmbedded, arguments,
    ]),
]

let testSuites: [Target] = [
  // What tests of the documents' dialect are held against: the same messages by generated code.
  .target(
    name: "TernDocumentJSON", dependencies: ["TernDocumentWire", protobuf],
    path: "Tests/DocumentJSON", exclude: ["Protos"], swiftSettings: strict),
  tests("Core", ["TernCore", "TernTestKit"]),
  tests(
    "Storage",
    [
      "TernStorage", "TernStorageMemory", "TernStorageSQLite", "TernStorageLMDB", "CSQLite",
      "TernTestKit",
    ]),
  tests("Ledger", ["TernStorage", "TernStorageMemory", "TernLedger", "TernTestKit"]),
  tests(
    "Server",
    [
      "TernCore", "TernQuery", "TernStorage", "TernStorageMemory", "TernStorageSQLite",
      "TernStorageLMDB", "TernTransport", "TernTransportLoopback", "TernSync", "TernLedger",
      "TernSecurity", "TernPresence", "TernTreeWire", "TernTreeEngine", "TernDocumentWire",
      "TernDocumentJSON", "TernDocumentEngine", "TernServer", "TernTestKit",
    ]),
  tests(
    "Gateway",
    [
      "TernGateway", "TernCore", "TernQuery", "TernStorageMemory", "TernTransport",
      "TernTransportTCP", "TernLedger", "TernSecurity", "TernTokens", "TernTreeWire", "TernServer",
      "TernSync", "TernClient", "TernAssembly", "TernFirebaseCompat", "TernTestKit", nioCore,
      nioEmbedded,
    ]),
  tests("Presence", ["TernStorage", "TernStorageMemory", "TernPresence"]),
  tests(
    "TreeEngine",
    [
      "TernCore", "TernQuery", "TernStorage", "TernStorageMemory", "TernLedger", "TernTreeEngine",
      "TernTestKit",
    ]),
  tests(
    "DocumentEngine",
    [
      "TernCore", "TernQuery", "TernStorage", "TernStorageMemory", "TernStorageSQLite",
      "TernStorageLMDB", "TernLedger", "TernDocumentEngine", "TernTestKit",
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
      "TernTransportLoopback", "TernDocumentEngine", "TernDocumentWire",
      "TernTreeEngine", "TernTreeWire", "TernTestKit",
    ]),
  tests(
    "Assembly",
    [
      "TernCore", "TernAssembly", "TernClient", "TernSync", "TernServer", "TernStorage",
      "TernStorageMemory",
      "TernStorageSQLite", "TernStorageLMDB", "TernTransport", "TernTransportLoopback",
    ]),
  tests(
    "CommandLine",
    [
      "tern", "TernCore", "TernStorage", "TernTransport", "TernSync", "TernClient", "TernServer",
      "TernAssembly",
    ]),
  tests(
    "EndToEnd",
    [
      "tern", "tern-torture", "cities", "feed", "presence", "scores", "TernCore", "TernClient",
      "TernAssembly", "TernStandard", "TernSync", "TernFirebaseCompat", "TernTestKit",
    ], others: ["Admin"]),
  tests("Spec", ["TernSpecReplay"]),
  tests(
    "Simulation",
    [
      "TernCore", "TernQuery", "TernStorage", "TernStorageMemory", "TernTransport", "TernSync",
      "TernLedger", "TernSecurity", "TernTreeWire", "TernTreeEngine", "TernClient", "TernServer",
      "TernTestKit", "TernSimulation",
    ]),
  tests("Query", ["TernCore", "TernQuery", "TernTestKit"]),
  tests("TreeWire", ["TernCore", "TernQuery", "TernTreeWire", "TernTestKit"]),
  tests(
    "DocumentWire",
    ["TernCore", "TernQuery", "TernDocumentWire", "TernDocumentJSON", "TernTestKit", protobuf]),
  tests(
    "Acceptance",
    [
      "TernFirebaseCompat", "TernAssembly", "TernStandard", "TernClient", "TernCore", "TernQuery",
      "TernSync", "TernSecurity", "TernTokens", "TernLedger", "TernServer", "TernDocumentEngine",
      "TernDocumentWire", "TernStorage",
      "TernStorageMemory", "TernStorageSQLite", "TernStorageLMDB", "TernTransactions",
      "TernTransport", "TernTransportLoopback", "TernTransportTCP", "TernTestKit", nioCore,
      nioPosix,
    ]),
  tests("TransportLoopback", ["TernTransport", "TernTransportLoopback"]),
  tests("TransportTCP", ["TernTransport", "TernTransportTCP"]),
  tests("Tidy", ["tern-tidy"]),
  tests(
    "Contracts",
    [
      "TernStorage", "TernStorageMemory", "TernStorageSQLite", "TernStorageLMDB",
      "TernTransport", "TernTransportLoopback", "TernTransportTCP", "TernTestKit",
    ]),
]

let package = Package(
  name: "tern",
  platforms: [.macOS(.v26), .iOS(.v26), .tvOS(.v26), .watchOS(.v26), .visionOS(.v26)],
  products: layers.filter { $0.type == .regular }.map {
    .library(name: $0.name, targets: [$0.name])
  },
  traits: [
    .trait(name: "TCP", description: "TransportTCP over swift-nio; off, no network code is built."),
    .default(enabledTraits: ["TCP"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
  ],
  targets: layers + programs + testSuites,
  swiftLanguageModes: [.v6]
)
