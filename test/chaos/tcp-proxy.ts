/** What stands between a client and a server, and spoils what goes through. */
export type TcpProxy = AsyncDisposable & {
  /** The server's URL, by way of the proxy. */
  readonly url: string
  /** Everything as it was: through, and at once. */
  heal: () => void
  /** Nothing comes through, and nothing is closed. */
  stall: () => void
  /** Closes what is open, and refuses what comes. */
  cut: () => void
  /** Each piece, either way, comes that much later. */
  delay: (milliseconds: number) => void
  /** Bytes per second, either way. */
  throttle: (bytesPerSecond: number) => void
  /** Ends connections at random: the share of pieces, 0 to 1, at which one is reset. */
  reset: (share: number, fraction: () => number) => void
  /** Once: what the client sends with these bytes in it goes to the server, and the connection is closed before it answers. */
  cutAfterSent: (bytes: Buffer) => Promise<void>
  /** Answers of the server end after that many bytes. */
  truncate: (bytes: number) => void
  connections: () => number
}
