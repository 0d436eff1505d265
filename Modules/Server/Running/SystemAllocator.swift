#if canImport(Glibc)
  import Glibc
#endif

/// The allocator of the C library, as far as it can be told to give memory back to the system.
///
/// Does nothing where the library has no such calls.
public enum SystemAllocator {
  /// Gives back free memory between pieces that are in use. Takes milliseconds.
  public static func returnFreeMemory() {
    #if canImport(Glibc)
      guard let call = unsafe dlsym(nil, "malloc_trim") else { return }
      // Safe: glibc declares `int malloc_trim(size_t)`, which may be called from any thread.
      let trim = unsafe unsafeBitCast(call, to: (@convention(c) (Int) -> CInt).self)
      _ = trim(0)
    #endif
  }

  /// Lets pieces of more than 1 MiB go back to the system as soon as they are free: by default that
  /// size grows with the largest piece that was freed. To be called before other threads begin.
  public static func returnLargePieces() {
    #if canImport(Glibc)
      guard let call = unsafe dlsym(nil, "mallopt") else { return }
      // Safe: glibc declares `int mallopt(int, int)`.
      let option = unsafe unsafeBitCast(call, to: (@convention(c) (CInt, CInt) -> CInt).self)
      let mmapThreshold: CInt = -3
      _ = option(mmapThreshold, 1 << 20)
    #endif
  }
}
