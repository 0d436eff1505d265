#if TCP && os(Linux)
  import Foundation
  import Glibc

  /// A PostgreSQL of the benchmark's own, in a temporary folder, on a free port of 127.0.0.1. It
  /// syncs each commit, as its standard settings have it.
  final class BenchPostgres {
    /// The folder of PostgreSQL's programs; `nil` when it is not installed.
    static let programs: String? = {
      let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
      return versions.compactMap { Int($0) }.sorted(by: >)
        .map { "\(root)/\($0)/bin" }
        .first { FileManager.default.isExecutableFile(atPath: $0 + "/postgres") }
    }()

    private static let root = "/usr/lib/postgresql"
    private static let patience = Duration.seconds(60)

    /// The connection string of its only database.
    let connection: String
    private let folder: BenchFolder
    private let server: TiedProcess

    init() throws {
      let port = try BenchCluster.freePort()
      folder = try BenchFolder()
      let programs = Self.programs ?? ""
      let (data, log) = (folder.path + "/data", folder.path + "/log")
      connection =
        "host=127.0.0.1 port=\(port) user=tern dbname=postgres sslmode=disable gssencmode=disable"
      do {
        if geteuid() == 0 { try TiedProcess.runBlocking(["chown", "nobody", folder.path]) }
        try TiedProcess.runBlocking(
          Self.unprivileged + [
            programs + "/initdb", "-D", data, "-U", "tern", "-A", "trust", "-E", "UTF8",
            "--no-locale",
          ])
        let settings = [
          "listen_addresses=127.0.0.1", "unix_socket_directories=", "shared_buffers=256MB",
        ]
        server = try TiedProcess(
          [programs + "/postgres", "-D", data, "-p", "\(port)"]
            + settings.flatMap { ["-c", $0] },
          prefix: Self.unprivileged, signal: "QUIT", log: log)
      } catch {
        folder.remove()
        throw error
      }
      let deadline = ContinuousClock.now + Self.patience
      while !Self.isReady(log) {
        guard ContinuousClock.now < deadline, server.process.isRunning else {
          remove()
          throw BenchFailure(reason: "PostgreSQL does not start")
        }
        usleep(20_000)
      }
    }

    /// Ends the server, and removes its data.
    func remove() {
      server.end()
      server.waitForEnd()
      folder.remove()
    }

    private static func isReady(_ log: String) -> Bool {
      let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
      return text.contains("ready to accept connections")
    }

    /// The program that runs another one as a user who is not root, which PostgreSQL refuses.
    private static var unprivileged: [String] {
      geteuid() == 0 ? ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] : []
    }
  }
#endif
