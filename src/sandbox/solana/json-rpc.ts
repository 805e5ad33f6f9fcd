/** Codes of Agave's `rpc-client-api/src/custom_error.rs`. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  preflightFailure: -32002,
  signatureVerificationFailure: -32003,
  blockNotAvailable: -32004,
  unsupportedTransactionVersion: -32015,
  minContextSlotNotReached: -32016,
} as const

export function invalidParams(problem: string): RpcError {
  return new RpcError(rpcCodes.invalidParams, `Invalid params: ${problem}`)
}

/** A `bigint` if a JSON number cannot hold the integer exactly, as lamports may need. */
export function parseExactly(text: string): unknown {
  return (JSON.parse as (text: string, revive: Revive) => unknown)(text, (_key, value, { source = '' }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
      ? BigInt(source)
      : value,
  )
}

export function stringifyExactly(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'bigint' ? (JSON as unknown as RawNumberJson).rawJSON(part.toString()) : part,
  )
}

type Revive = (key: string, value: unknown, context: { source?: string }) => unknown

type RawNumberJson = { rawJSON(text: string): unknown }
