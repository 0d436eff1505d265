/// The bytes of a store on disk that are checked whenever they are read.
public enum StoreIntegrity: String, Decodable, Sendable {
  /// Whole pages: rows, their keys, and the structure that finds them. No row vanishes in silence.
  case pages
  /// Records alone: reads get past a corrupt page, and rows on it may be missed. For recovery.
  case records
  /// Records alone, and a corrupt end of the log is kept in another file and done without.
  case recovery
}
