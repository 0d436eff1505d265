import Foundation
import TernStorageLMDB
import TernStorageMemory
import TernStorageSQLite

/// Stores beside the bare C libraries, and the memory store beside our LMDB store.
enum StorageSection {
  static func run(rows: Int, only: StoreKind?) throws -> [BenchLine] {
    let directory = FileManager.default.temporaryDirectory
      .appending(path: "tern-bench-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    func path(_ name: String) -> String { directory.appending(path: name).path }

    let work = StorageWork(rows: rows)
    let keys = work.sortedKeys()
    func wants(_ kind: StoreKind) -> Bool { only ?? kind == kind }
    var lines: [BenchLine] = []
    if wants(.sqlite) {
      let sqlite = try loaded(TernSubject(SQLiteStore(path: path("sqlite"))), work, keys)
      let bare = try loaded(BareSQLite(path: path("bare.sqlite")), work, keys)
      lines += try reads("sqlite", sqlite, bare, work, (0.75, 0.75))
      lines += try writes("sqlite", sqlite, bare, work, 0.75)
    }
    guard wants(.lmdb) || wants(.memory) else { return lines }
    let lmdb = try loaded(TernSubject(LMDBStore(path: path("lmdb"))), work, keys)
    if wants(.lmdb) {
      let bare = try loaded(BareLMDB(path: path("bare.mdb")), work, keys)
      lines += try reads("lmdb", lmdb, bare, work, (0.6, 0.25))
      lines += try writes("lmdb", lmdb, bare, work, 0.6)
    }
    if wants(.memory) {
      let memory = try loaded(TernSubject(MemoryStore()), work, keys)
      lines += try reads("memory beside our lmdb", memory, lmdb, work, (1, 1))
    }
    return lines
  }

  private static func loaded<Subject: StorageSubject>(
    _ subject: Subject, _ work: StorageWork, _ keys: [[UInt8]]
  ) throws -> Subject {
    try subject.load(keys, work.value)
    return subject
  }

  private static func reads(
    _ name: String, _ tern: any StorageSubject, _ baseline: any StorageSubject,
    _ work: StorageWork, _ targets: (get: Double, scan: Double)
  ) throws -> [BenchLine] {
    let gets = work.readKeys(200_000)
    let starts = work.readKeys(5_000)
    return [
      try .measure(name + ": random reads", target: targets.get, count: gets.count) {
        try tern.get(gets)
      } baseline: {
        try baseline.get(gets)
      },
      try .measure(
        name + ": rows in scans of 100", target: targets.scan, count: starts.count * 100
      ) {
        try tern.scan(from: starts, count: 100)
      } baseline: {
        try baseline.scan(from: starts, count: 100)
      },
      try .measure(name + ": rows in a full scan", target: targets.scan, count: work.rows) {
        try tern.scan(from: [[]], count: .max)
      } baseline: {
        try baseline.scan(from: [[]], count: .max)
      },
    ]
  }

  private static func writes(
    _ name: String, _ tern: any StorageSubject, _ baseline: any StorageSubject,
    _ work: StorageWork, _ target: Double
  ) throws -> [BenchLine] {
    var next = work.rows
    return try [(100, 40_000), (1_000, 100_000), (1, 1_000)].map { batch, count in
      let round = count / 5
      let keys = (next..<(next + count)).map(StorageWork.key)
      next += count
      var ours = 0
      var theirs = 0
      let title = batch == 1 ? "single durable writes" : "writes in batches of \(batch)"
      return try .measure(name + ": " + title, target: target, count: round) {
        try tern.put(keys[(ours * round)..<((ours + 1) * round)], work.value, batch: batch)
        ours += 1
      } baseline: {
        try baseline.put(keys[(theirs * round)..<((theirs + 1) * round)], work.value, batch: batch)
        theirs += 1
      }
    }
  }
}
