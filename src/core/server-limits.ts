/** How large a request a port accepts, and how long it waits for one. */
export type ServerLimits = {
  headerBytesMax: number
  headersTimeoutMs: number
  /** From the first byte of a request to the last byte of its body. */
  requestTimeoutMs: number
  /** Longer than the 60 s after which common load balancers drop an idle connection. */
  keepAliveTimeoutMs: number
  /** How often the two time limits above are checked. */
  timeoutCheckMs: number
}

export const serverLimits: ServerLimits = {
  headerBytesMax: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  keepAliveTimeoutMs: 65_000,
  timeoutCheckMs: 1000,
}

/** The limits as options of `createServer` of `node:http`. */
export function serverOptions(limits: ServerLimits) {
  return {
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
  }
}
