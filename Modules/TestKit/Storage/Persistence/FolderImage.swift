#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The files below a folder at one moment.
///
/// It holds whole files in memory, so it serves small stores. Permissions, times and links are not
/// kept.
struct FolderImage {
  /// One file: its path in the folder, and its bytes.
  struct File {
    var path: String
    var bytes: [UInt8]
  }

  /// A byte in one of the files.
  struct Place {
    var file: Int
    var offset: Int
  }

  /// Large enough to skip the empty parts of a file, small enough to leave none of its contents
  /// out.
  private static let blockBytes = 512

  /// The files, in the order of their paths.
  var files: [File] = []

  /// Reads the files of `folder` and of the folders in it.
  init(of folder: String) { collect(folder, "") }

  /// Collects the files of a folder. A file that cannot be read is left out.
  private mutating func collect(_ folder: String, _ prefix: String) {
    for name in Self.names(in: folder) {
      let path = folder + "/" + name
      if Self.isFolder(path) {
        collect(path, prefix + name + "/")
      } else if let bytes = Self.read(path) {
        files.append(File(path: prefix + name, bytes: bytes))
      }
    }
  }

  /// Makes these files the only ones in `folder`.
  ///
  /// - Throws: ``StoreCheckFailure`` when a file cannot be written.
  func write(to folder: String) throws {
    Self.empty(folder)
    for file in files {
      let path = folder + "/" + file.path
      var end = path.startIndex
      while let slash = path[end...].dropFirst().firstIndex(of: "/") {
        unsafe mkdir(String(path[..<slash]), 0o700)
        end = slash
      }
      try expect(Self.write(file.bytes, to: path), "\(path) cannot be written: \(errno)")
    }
  }

  /// Returns the first place of `bytes` in a file.
  func place(of bytes: [UInt8]) -> Place? {
    for (index, file) in files.enumerated() {
      if let offset = Self.offset(of: bytes, in: file.bytes) {
        return Place(file: index, offset: offset)
      }
    }
    return nil
  }

  private static func offset(of part: [UInt8], in whole: [UInt8]) -> Int? {
    guard let first = part.first else { return nil }
    // Safe: `memchr` and `memcmp` stay within the two buffers, and keep no pointer.
    return unsafe whole.withUnsafeBytes { whole in
      unsafe part.withUnsafeBytes { part in
        guard let start = whole.baseAddress, let wanted = part.baseAddress else { return nil }
        var offset = 0
        while offset + part.count <= whole.count {
          let rest = whole.count - part.count - offset + 1
          guard let hit = unsafe memchr(start + offset, Int32(first), rest) else { return nil }
          offset = unsafe UnsafeRawPointer(hit) - start
          if unsafe memcmp(start + offset, wanted, part.count) == 0 { return offset }
          offset += 1
        }
        return nil
      }
    }
  }

  /// Returns a place in a part of a file that is not all zeros: a row, or what leads to one.
  ///
  /// - Returns: `nil` when all files are empty or zero.
  func randomPlace(using random: inout SeededGenerator) -> Place? {
    var blocks: [Place] = []
    for (index, file) in files.enumerated() {
      for start in stride(from: 0, to: file.bytes.count, by: Self.blockBytes)
      where file.bytes[start...].prefix(Self.blockBytes).contains(where: { $0 != 0 }) {
        blocks.append(Place(file: index, offset: start))
      }
    }
    guard var place = blocks.randomElement(using: &random) else { return nil }
    let count = min(Self.blockBytes, files[place.file].bytes.count - place.offset)
    place.offset += Int.random(in: 0..<count, using: &random)
    return place
  }

  /// Turns one bit.
  mutating func turn(bit: Int, at place: Place) {
    files[place.file].bytes[place.offset] ^= 1 << bit
  }
}

// MARK: - The file system

extension FolderImage {
  /// Returns the names in a folder, in order, so that equal folders give equal images.
  private static func names(in folder: String) -> [String] {
    guard let directory = unsafe opendir(folder) else { return [] }
    defer { _ = unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      // Safe: the entry is valid until the next `readdir`, and its name ends with a zero.
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  private static func isFolder(_ path: String) -> Bool {
    var info = stat()
    // Safe: `stat` fills the structure and keeps no pointer.
    return unsafe stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
  }

  /// Removes everything in a folder, and keeps the folder.
  private static func empty(_ folder: String) {
    for name in names(in: folder) {
      let path = folder + "/" + name
      if isFolder(path) {
        empty(path)
        unsafe rmdir(path)
      } else {
        unsafe unlink(path)
      }
    }
  }

  /// Reads a file as far as it can be read.
  private static func read(_ path: String) -> [UInt8]? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let count = max(0, Int(lseek(descriptor, 0, SEEK_END)))
    // Safe: `pread` writes at most the bytes that are left in the buffer.
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let got = unsafe pread(
          descriptor, buffer.baseAddress.map { unsafe $0 + filled }, count - filled, filled)
        if got <= 0 { break }
        filled += got
      }
    }
  }

  private static func write(_ bytes: [UInt8], to path: String) -> Bool {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var start = 0
    while start < bytes.count {
      // Safe: `pwrite` reads the bytes of the array and keeps no pointer.
      let count = unsafe bytes.withUnsafeBytes { bytes in
        unsafe pwrite(
          descriptor, bytes.baseAddress.map { unsafe $0 + start }, bytes.count - start, start)
      }
      if count <= 0 { return false }
      start += count
    }
    return true
  }
}
