#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The state of a file, as the system tells it.
struct FileStatus {
  private let status: stat

  /// - Returns: `nil` when there is no such file, or it cannot be seen.
  init?(of path: String, followsLinks: Bool = true) {
    var status = stat()
    let result =
      followsLinks ? unsafe stat(path, &status) : unsafe lstat(path, &status)
    guard result == 0 else { return nil }
    self.status = status
  }

  private var kind: mode_t { status.st_mode & S_IFMT }

  var isRegular: Bool { kind == S_IFREG }
  var isFolder: Bool { kind == S_IFDIR }
  var bytes: Int { Int(status.st_size) }
  /// The permissions alone.
  var mode: mode_t { status.st_mode & 0o7777 }
  var owner: uid_t { status.st_uid }
  var group: gid_t { status.st_gid }
  /// The number of the file in its file system.
  var number: UInt64 { UInt64(status.st_ino) }

  /// The time of the last write, in seconds since 1970.
  var written: Double {
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
  }
}
