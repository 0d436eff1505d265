#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The directory of one store on disk, held by at most one opened store at a time.
///
/// The hold is an advisory lock on the file `lock` in it: it ends with the process, and it also
/// refuses a second opening in the same process.
public final class StoreDirectory: Sendable {
  /// The directory's path as given.
  public let path: String

  /// The mode of its files: they hold data and tokens of one user, and no other user may read them,
  /// wherever the directory is.
  public static let fileMode = 0o600

  private let lockDescriptor: Int32

  /// Makes the directory with its parents if need be, and takes hold of it. The name of a new
  /// directory is durable when this returns.
  ///
  /// - Throws: ``StorageError/inUse(path:)``, ``StorageError/readOnly(path:)``,
  ///   ``StorageError/cannotOpen(path:code:)``, ``StorageError/diskFull``.
  public init(path: String) throws(StorageError) {
    if unsafe access(path + "/lock", F_OK) != 0 { try Self.make(path) }
    let descriptor = unsafe open(
      path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, mode_t(Self.fileMode))
    guard descriptor >= 0 else { throw Self.error(errno, path) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      _ = Self.closeFile(descriptor)
      throw code == EWOULDBLOCK ? .inUse(path: path) : Self.error(code, path)
    }
    guard unsafe access(path, W_OK) == 0 else {
      let code = errno
      _ = Self.closeFile(descriptor)
      throw Self.error(code, path)
    }
    self.path = path
    self.lockDescriptor = descriptor
  }

  deinit {
    // Closing alone is not enough: a process that is just being started by this one has a copy of
    // the descriptor until it runs its program, and with it the lock.
    _ = flock(lockDescriptor, LOCK_UN)
    _ = Self.closeFile(lockDescriptor)
  }

  /// The path of the file `name` in the directory.
  public func file(_ name: String) -> String { path + "/" + name }

  /// Returns true when the file `name` exists.
  public func holds(_ name: String) -> Bool { unsafe access(file(name), F_OK) == 0 }

  /// The length of the file `name`; `nil` when there is none.
  public func bytes(of name: String) -> Int? {
    var info = stat()
    // Safe: `stat` fills the structure and keeps no pointer.
    guard unsafe stat(file(name), &info) == 0 else { return nil }
    return Int(info.st_size)
  }

  /// The first bytes of the file `name`, at most `bytes`; none when there is no such file.
  ///
  /// No part of this process may have the file open: closing it would end locks on it.
  public func head(of name: String, bytes: Int) throws(StorageError) -> [UInt8] {
    let descriptor = unsafe open(file(name), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return [] }
      throw Self.error(errno, path)
    }
    defer { _ = Self.closeFile(descriptor) }
    var head = [UInt8](repeating: 0, count: bytes)
    // Safe: `pread` writes at most `bytes` bytes and keeps no pointer.
    let count = unsafe head.withUnsafeMutableBytes {
      unsafe pread(descriptor, $0.baseAddress, bytes, 0)
    }
    head.removeSubrange(max(0, count)...)
    return head
  }

  /// Returns true when the disk has less than `bytes` left.
  public func hasLess(than bytes: Int) -> Bool {
    var info = statvfs()
    // Safe: `statvfs` fills the structure and keeps no pointer.
    guard unsafe statvfs(path, &info) == 0 else { return false }
    return Int(info.f_bavail) * Int(info.f_frsize) < bytes
  }

  /// Makes the file `name`, for its owner alone, and its name durable. One that exists is not
  /// opened: closing it would end the locks that this process has on it.
  public func make(_ name: String) throws(StorageError) {
    if holds(name) { return }
    let descriptor = unsafe open(file(name), O_RDWR | O_CREAT | O_CLOEXEC, mode_t(Self.fileMode))
    guard descriptor >= 0 else { throw Self.error(errno, path) }
    _ = Self.closeFile(descriptor)
    try sync()
  }

  /// Copies the file `old`, which must not be open, and returns when its bytes are durable. A
  /// missing file is not copied.
  public func copy(_ old: String, to new: String) throws(StorageError) {
    guard let count = bytes(of: old) else { return }
    try fill(new, with: try head(of: old, bytes: count))
  }

  /// Replaces the file `name`, which must not be open, by `bytes`: after a crash it holds all of
  /// the old bytes, or all of the new ones. The new ones are durable when this returns.
  ///
  /// The bytes go to the file `name` with the suffix `.new` first, which is then renamed.
  /// - Throws: ``StorageError/diskFull``, ``StorageError/syncFailed(code:)`` and the errors of an
  ///   opening; the file is unchanged after any but a failed sync.
  public func replace(_ name: String, with bytes: [UInt8]) throws(StorageError) {
    let new = name + ".new"
    do throws(StorageError) { try fill(new, with: bytes) } catch {
      remove(new)
      throw error
    }
    try rename(new, to: name)
  }

  private func fill(_ name: String, with bytes: [UInt8]) throws(StorageError) {
    let descriptor = unsafe open(
      file(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode_t(Self.fileMode))
    guard descriptor >= 0 else { throw Self.error(errno, path) }
    defer { _ = Self.closeFile(descriptor) }
    var start = 0
    while start < bytes.count {
      // Safe: `write` reads the bytes of the array and keeps no pointer.
      let count = unsafe bytes.withUnsafeBytes { bytes in
        unsafe write(
          descriptor, bytes.baseAddress.map { unsafe $0 + start }, bytes.count - start)
      }
      guard count > 0 else { throw .diskFull }
      start += count
    }
    guard fsync(descriptor) == 0 else { throw .syncFailed(code: errno) }
  }

  /// Removes the file `name`, if there is one.
  public func remove(_ name: String) { unsafe unlink(file(name)) }

  /// Renames a file, and returns when the new name is durable.
  public func rename(_ old: String, to new: String) throws(StorageError) {
    guard Self.renameFile(file(old), file(new)) == 0 else { throw Self.error(errno, path) }
    try sync()
  }

  /// Makes names created in the directory durable.
  public func sync() throws(StorageError) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.error(errno, path) }
    defer { _ = Self.closeFile(descriptor) }
    guard fsync(descriptor) == 0 else { throw .syncFailed(code: errno) }
  }

  /// Makes a directory with its parents, and their names durable. A crash may have left the last
  /// one that exists without a durable name.
  private static func make(_ path: String) throws(StorageError) {
    if unsafe access(path, F_OK) != 0 {
      let parent = parent(of: path)
      if parent != path, parent != ".", parent != "/" { try make(parent) }
      guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw error(errno, path) }
    }
    try syncParent(of: path)
  }

  /// Makes the name of a directory durable. A parent that cannot be read, or a file system that
  /// does not sync directories, is left as it is.
  private static func syncParent(of path: String) throws(StorageError) {
    let descriptor = unsafe open(parent(of: path), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { _ = closeFile(descriptor) }
    guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else {
      throw .syncFailed(code: errno)
    }
  }

  private static func parent(of path: String) -> String {
    var end = path[...]
    while end.count > 1, end.last == "/" { end = end.dropLast() }
    guard let slash = end.lastIndex(of: "/") else { return "." }
    return slash == end.startIndex ? "/" : String(end[..<slash])
  }

  static func error(_ code: Int32, _ path: String) -> StorageError {
    switch code {
    case EACCES, EPERM, EROFS: .readOnly(path: path)
    case ENOSPC, EDQUOT, EFBIG: .diskFull
    default: .cannotOpen(path: path, code: code)
    }
  }

  // `close` and `rename` of the C library, reachable where methods have the same names.
  static func closeFile(_ descriptor: Int32) -> Int32 { close(descriptor) }
  private static func renameFile(_ old: String, _ new: String) -> Int32 {
    #if canImport(Glibc)
      unsafe Glibc.rename(old, new)
    #elseif canImport(Musl)
      unsafe Musl.rename(old, new)
    #else
      unsafe Darwin.rename(old, new)
    #endif
  }
}
