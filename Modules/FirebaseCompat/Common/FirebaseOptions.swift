import Foundation
import Synchronization

/// The project that an app belongs to, and the address of its server.
///
/// Only ``projectID`` and ``databaseURL`` change what an app does: the project of its documents,
/// and the server with the name of the tree database. An address of Google's names the database
/// alone; the server is then the one of the app's configuration.
public final class FirebaseOptions: Sendable {
  struct Values: Hashable, Sendable {
    var apiKey: String?
    var bundleID = Bundle.main.bundleIdentifier ?? ""
    var clientID: String?
    var gcmSenderID: String
    var projectID: String?
    var googleAppID: String
    var databaseURL: String?
    var storageBucket: String?
    var appGroupID: String?
  }

  private let state: Mutex<Values>

  init(_ values: Values) { state = Mutex(values) }

  /// Makes options with what Firebase requires; nothing here reads either of the two.
  public convenience init(googleAppID: String, gcmSenderID: String) {
    self.init(Values(gcmSenderID: gcmSenderID, googleAppID: googleAppID))
  }

  /// Reads a property list in the form of `GoogleService-Info.plist`; `nil` when the file cannot be
  /// read, is none, or lacks `GOOGLE_APP_ID` or `GCM_SENDER_ID`.
  public convenience init?(contentsOfFile plistPath: String) {
    guard let data = FileManager.default.contents(atPath: plistPath),
      let list = try? unsafe PropertyListSerialization.propertyList(from: data, format: nil),
      let members = list as? [String: Any], let appID = members["GOOGLE_APP_ID"] as? String,
      let senderID = members["GCM_SENDER_ID"] as? String
    else { return nil }
    var values = Values(gcmSenderID: senderID, googleAppID: appID)
    values.apiKey = members["API_KEY"] as? String
    values.bundleID = members["BUNDLE_ID"] as? String ?? values.bundleID
    values.clientID = members["CLIENT_ID"] as? String
    values.projectID = members["PROJECT_ID"] as? String
    values.databaseURL = members["DATABASE_URL"] as? String
    values.storageBucket = members["STORAGE_BUCKET"] as? String
    self.init(values)
  }

  /// Reads `GoogleService-Info.plist` among the resources of the program; `nil` when there is none.
  public static func defaultOptions() -> FirebaseOptions? {
    Bundle.main.path(forResource: "GoogleService-Info", ofType: "plist")
      .flatMap { FirebaseOptions(contentsOfFile: $0) }
  }

  /// A key of Google's services; not used.
  public var apiKey: String? {
    get { values.apiKey }
    set { state.withLock { $0.apiKey = newValue } }
  }
  /// The bundle of the app; not used.
  public var bundleID: String {
    get { values.bundleID }
    set { state.withLock { $0.bundleID = newValue } }
  }
  /// A client of Google's sign-in; not used.
  public var clientID: String? {
    get { values.clientID }
    set { state.withLock { $0.clientID = newValue } }
  }
  /// The number of the project; not used.
  public var gcmSenderID: String {
    get { values.gcmSenderID }
    set { state.withLock { $0.gcmSenderID = newValue } }
  }
  /// The project that documents belong to; `tern` when it is `nil`.
  public var projectID: String? {
    get { values.projectID }
    set { state.withLock { $0.projectID = newValue } }
  }
  /// The app's id in Google's services; not used.
  public var googleAppID: String {
    get { values.googleAppID }
    set { state.withLock { $0.googleAppID = newValue } }
  }
  /// The address of the realtime tree, such as `http://localhost:9000?ns=chat`.
  public var databaseURL: String? {
    get { values.databaseURL }
    set { state.withLock { $0.databaseURL = newValue } }
  }
  /// A place for files at Google; not used.
  public var storageBucket: String? {
    get { values.storageBucket }
    set { state.withLock { $0.storageBucket = newValue } }
  }
  /// A group of apps that share data; not used.
  public var appGroupID: String? {
    get { values.appGroupID }
    set { state.withLock { $0.appGroupID = newValue } }
  }

  /// A copy of what is set now.
  var values: Values { state.withLock { $0 } }
}
