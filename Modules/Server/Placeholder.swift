/// Holds the module open until its first type lands.
enum TernServerPlaceholder {}
