package import TernServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension SystemFigures {
  /// Reads the figures of this process, and of the files in a folder. What the system does not tell
  /// stays unknown.
  package static func reading(storeKind: String, storePath: String?) -> SystemFigures {
    var figures = SystemFigures()
    figures.processID = Int(getpid())
    figures.storeKind = storeKind
    figures.storePath = storePath
    var usage = rusage()
    #if canImport(Glibc)
      let own = __rusage_who_t(RUSAGE_SELF.rawValue)
      // Safe: the call fills the structure during the call only.
      let isKnown = unsafe getrusage(own, &usage) == 0
    #else
      let isKnown = unsafe getrusage(RUSAGE_SELF, &usage) == 0
    #endif
    if isKnown {
      figures.cpuSeconds = seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
    figures.descriptorLimit = mostDescriptors
    #if os(Linux)
      figures.residentBytes = memoryInUse
      figures.descriptors = entries(of: "/proc/self/fd").map { max(0, $0.count - 1) }
    #endif
    if let storePath {
      figures.storeBytes = entries(of: storePath)?.reduce(0) { sum, name in
        sum + (size(of: storePath + "/" + name) ?? 0)
      }
      figures.freeBytes = freeBytes(at: storePath)
    }
    return figures
  }

  private static func seconds(_ time: timeval) -> Double {
    Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000
  }

  private static var mostDescriptors: Int? {
    var limits = rlimit()
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let resource = RLIMIT_NOFILE
    #endif
    // Safe: the call uses the structure during the call only.
    guard unsafe getrlimit(resource, &limits) == 0 else { return nil }
    return Int(clamping: limits.rlim_cur)
  }

  /// The second number of `/proc/self/statm`, in pages.
  private static var memoryInUse: Int? {
    let file = open("/proc/self/statm", O_RDONLY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 128)
    // Safe: the count is that of the array.
    let count = unsafe read(file, &bytes, bytes.count)
    guard count > 0 else { return nil }
    let words = bytes.prefix(count).split(separator: UInt8(ascii: " "))
    guard words.count > 1 else { return nil }
    let pageBytes = Int(sysconf(Int32(_SC_PAGESIZE)))
    return Int(String(decoding: words[1], as: UTF8.self)).map { $0 * pageBytes }
  }

  /// The names in a folder, without those of itself and the one above.
  private static func entries(of path: String) -> [String]? {
    guard let folder = unsafe opendir(path) else { return nil }
    defer { unsafe _ = closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
          unsafe String(cString: $0)
        }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  private static func size(of path: String) -> Int? {
    var status = stat()
    // Safe: the call fills the structure during the call only.
    guard unsafe stat(path, &status) == 0 else { return nil }
    return Int(status.st_size)
  }

  private static func freeBytes(at path: String) -> Int? {
    var status = statvfs()
    // Safe: the call fills the structure during the call only.
    guard unsafe statvfs(path, &status) == 0 else { return nil }
    return Int(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
  }
}
