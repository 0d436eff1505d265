import Foundation
import Synchronization

/// A PostgreSQL of the tests, in a temporary folder, on a free port of 127.0.0.1. It ends with the
/// tests, even if they are killed: it lives as long as a pipe to it.
package final class PostgresServer: Sendable {
  /// The folder of PostgreSQL's programs; `nil` when it is not installed.
  package static let programs: String? = {
    let manager = FileManager.default
    let debian = (try? manager.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
    let newest = debian.sorted { $0.compare($1, options: .numeric) == .orderedDescending }
    let folders =
      newest.map { "/usr/lib/postgresql/\($0)/bin" } + ["/opt/homebrew/bin", "/usr/bin"]
    return folders.first { folder in
      ["initdb", "postgres", "psql"].allSatisfy {
        manager.isExecutableFile(atPath: "\(folder)/\($0)")
      }
    }
  }()

  /// True when the tests can start a server.
  package static var isInstalled: Bool { programs != nil }

  /// The server of tests that do not mind when it restarts.
  package static let shared = Result { try PostgresServer() }

  private static let count = Mutex(0)

  /// The port of 127.0.0.1 that it listens at.
  package let port: UInt16
  /// The certificate that it shows.
  package let certificate: String
  private let folder: String
  private let program = Mutex<(process: Process, pipe: Pipe)?>(nil)
  private let schemas = Mutex(0)

  /// Starts a server of its own; ``remove()`` ends it.
  package init() throws {
    port = try freePort()
    let number = Self.count.withLock { count in
      count += 1
      return count
    }
    folder =
      FileManager.default.temporaryDirectory.path + "/tern-postgres-\(getpid())-\(number)"
    certificate = folder + "/server.crt"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    if geteuid() == 0 { try run("chown", ["nobody", folder], isPrivileged: true) }
    let data = folder + "/data"
    try run(
      Self.program("initdb"),
      ["-D", data, "-U", "tern", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"])
    try run(
      "openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
        "-keyout", folder + "/server.key", "-out", certificate,
      ])
    try run("chmod", ["600", folder + "/server.key"])
    // The user `guarded` needs a password, and TLS.
    try run(
      "sh",
      [
        "-c",
        "printf '%s\\n' 'hostssl all guarded 127.0.0.1/32 scram-sha-256' "
          + "'hostnossl all guarded 127.0.0.1/32 reject' 'host all all 127.0.0.1/32 trust' "
          + "> \"$0/pg_hba.conf\"", data,
      ])
    start()
    Self.running.withLock { $0.append(self) }
    _ = Self.endsAll
  }

  /// Starts the server, and returns when it takes connections.
  package func start() {
    let process = Process()
    let pipe = Pipe()
    // The server takes the place of the shell, and ends with the pipe.
    let script = "exec 3<&0; (cat <&3 >/dev/null; kill -QUIT $$) & exec \"$@\" 3<&-"
    let settings = [
      "listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200",
      "fsync=off", "shared_buffers=32MB", "ssl=on", "ssl_cert_file=\(certificate)",
      "ssl_key_file=\(folder)/server.key",
    ]
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      Self.unprivileged + [
        "sh", "-c", script, "sh", Self.program("postgres"), "-D", folder + "/data",
      ]
      + ["-p", "\(port)"] + settings.flatMap { ["-c", $0] }
    process.standardInput = pipe
    process.standardOutput = FileHandle.nullDevice
    let messages = Pipe()
    process.standardError = messages
    // Other programs of the tests would keep them open when this one lets go of them.
    for pipe in [pipe, messages] {
      for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
        _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
      }
    }
    do { try process.run() } catch { return }
    program.withLock { $0 = (process, pipe) }
    let ready = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      var text = ""
      var isReady = false
      while case let data = messages.fileHandleForReading.availableData, !data.isEmpty {
        if isReady { continue }
        text += String(decoding: data, as: UTF8.self)
        isReady = text.contains("ready to accept connections")
        if isReady { ready.signal() }
      }
      ready.signal()
    }
    _ = ready.wait(timeout: .now() + .seconds(60))
  }

  /// Ends the server at once, without a word to its clients and without a checkpoint.
  package func crash() {
    guard let (process, pipe) = program.withLock({ $0 }) else { return }
    let file = try? String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8)
    if let pid = file?.split(separator: "\n").first.flatMap({ pid_t($0) }) { kill(pid, SIGQUIT) }
    try? pipe.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  private static let running = Mutex<[PostgresServer]>([])

  /// Removes the servers that are left at the end of the process.
  private static let endsAll: Void = {
    atexit {
      for server in PostgresServer.running.withLock({ $0 }) { server.remove() }
    }
  }()

  /// Ends the server, and removes its data.
  package func remove() {
    Self.running.withLock { $0.removeAll { $0 === self } }
    crash()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Creates an empty schema, and returns the connection string of logs in it.
  package func newSchema() throws -> String {
    let name = schemas.withLock { count in
      count += 1
      return "place\(count)"
    }
    try run("create schema \(name)")
    return connection(schema: name)
  }

  /// Returns the connection string of a schema, directly or over the port of a proxy.
  package func connection(schema: String, port: UInt16? = nil) -> String {
    "host=127.0.0.1 port=\(port ?? self.port) user=tern dbname=postgres sslmode=disable "
      + "gssencmode=disable options='-csearch_path=\(schema)'"
  }

  /// Runs statements with the server's own client, and returns what it prints.
  @discardableResult
  package func run(_ statements: String, schema: String = "public") throws -> String {
    try run(
      Self.program("psql"),
      [
        "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", statements,
        connection(schema: schema),
      ])
  }

  /// Returns the path of one of PostgreSQL's programs.
  package static func program(_ name: String) -> String { (programs ?? "") + "/" + name }

  /// The program that runs another one as a user who is not root, which PostgreSQL refuses.
  private static var unprivileged: [String] {
    geteuid() == 0 ? ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] : []
  }

  @discardableResult
  private func run(
    _ program: String, _ arguments: [String], isPrivileged: Bool = false
  ) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = (isPrivileged ? [] : Self.unprivileged) + [program] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw ProgramFailure(program, output: text) }
    return text.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

/// A program that ended with an error.
package struct ProgramFailure: Error, CustomStringConvertible {
  /// The program, and what it printed.
  package let description: String
  /// The output of the program.
  package let output: String

  init(_ program: String, output: String) {
    self.output = output
    description = "\(program) failed: \(output)"
  }
}

/// A port of 127.0.0.1 that is free now, below those that the system gives to clients: it stays
/// free until the server listens, and while it restarts.
private func freePort() throws -> UInt16 {
  while true {
    do {
      let socket = try LocalSocket(listening: 1, at: .random(in: 15_000..<30_000))
      defer { socket.close() }
      return socket.port
    } catch let error as LocalSocket.Failure where error.code == EADDRINUSE {}
  }
}
