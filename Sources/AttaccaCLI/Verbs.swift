/// What the command can be asked for.
enum Verb: String, CaseIterable {
  /// Plays files here, in the terminal.
  case play
  /// Says what files are.
  case probe
  /// Explains the command, or one of its verbs.
  case help
}

/// The command's own texts.
enum Usage {
  /// One line for standard error.
  static let short = "usage: attacca play [options] FILE|DIR…   (attacca --help explains)\n"

  /// The whole help.
  static let full = """
    usage: attacca VERB [arguments]

    verbs:
      play [options] FILE|DIR…   play files and folders here, in the terminal
      probe [--json] FILE|DIR…   say what files are, without playing them
      help [VERB]                explain the command or one of its verbs

    options:
      -h, --help                 explain the command
          --version              print the version

    `attacca help play` lists the options and keys of play; `man attacca` tells everything.

    """
}
