#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#else
  import Darwin
#endif

/// The number of files and sockets this process may have open.
enum OpenFiles {
  /// More than any server needs; some systems name no hard limit at all.
  private static let most: rlim_t = 1 << 20

  /// Raises the soft limit to the hard one.
  ///
  /// - Returns: The limit in force.
  static func raiseLimit() -> Int {
    var limit = rlimit()
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let resource = RLIMIT_NOFILE
    #endif
    // Safe: both calls use the structure during the call only.
    guard unsafe getrlimit(resource, &limit) == 0 else { return 0 }
    let before = limit.rlim_cur
    limit.rlim_cur = max(before, min(limit.rlim_max, most))
    if unsafe setrlimit(resource, &limit) == 0 { return Int(clamping: limit.rlim_cur) }
    return Int(clamping: before)
  }
}
