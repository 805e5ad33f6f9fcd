/** The code is stable; the details hold the value and the reason. */
type Details = {
  /** Not a plain decimal, or more decimal places than the asset has. */
  amount_malformed: { text: string; decimals: number }
  address_malformed: { family: string; text: string }
  transaction_malformed: { family: string; text: string }
  /** `fix` is set if `faults` do not contain it. */
  settings_bad: { faults: readonly string[]; fix?: string }
  usage_bad: { problem: string; fix: string }
  not_found: { problem: string; fix: string }
  /**
   * A server we depend on did not answer usably. `help` names the documentation page for exactly this failure. If it
   * `isLasting`, a repeated request gets the same answer.
   */
  remote_failed: { what: string; problem: string; help?: string; fix?: string; isLasting?: boolean }
  /** The database was migrated by files of another version. */
  schema_unknown: { problem: string; fix: string }
  /** Too few nodes agree on what would be booked. Nothing was changed. */
  rpc_disagreement: { network: string; problem: string }
  /** History changed further back than the stored blocks reach. A person decides where to resume. */
  history_lost: { network: string; problem: string; fix: string }
  /** An API of ours refuses a request. `reason` is the stable code for the caller. */
  request_refused: { status: number; reason: string; problem: string } & RefusalParts
  /** Another process took over the stream. Nothing was written. */
  lease_lost: { stream: string }
  /** Two transactions tried to join the same cases. A retry resolves it. */
  conflict: { what: string }
}

/** `pointer` (RFC 6901) into the body, or the name of a parameter. */
export type RequestFault = { pointer?: string; parameter?: string; detail: string }

export type RefusalParts = {
  errors?: readonly RequestFault[]
  headers?: Readonly<Record<string, string>>
}

export type FaultCode = keyof Details

export class Fault<Code extends FaultCode = FaultCode> extends Error {
  override readonly name = 'Fault'
  readonly code: Code
  readonly details: Details[Code]

  constructor(code: Code, details: Details[Code], options?: ErrorOptions) {
    super(`${code}: ${describe(details)}`, options)
    this.code = code
    this.details = details
  }
}

export function isFault<Code extends FaultCode>(error: unknown, code: Code): error is Fault<Code> {
  return error instanceof Fault && error.code === code
}

export function codeOf(error: unknown): FaultCode | null {
  return error instanceof Fault ? (error as Fault).code : null
}

/** One line for people. For a failed TLS connection it includes the fix. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ')
  if (!(error instanceof Error)) return String(error)
  const name = 'code' in error ? String(error.code) : error.message
  const [, fix] = tlsFixes.find(([refusal]) => refusal.test(name)) ?? []
  return fix === undefined ? error.message : `${error.message}: ${fix}`
}

/** By Node's error code for a refused certificate. The Postgres client gives no code, so its message is the key. */
const tlsFixes: readonly (readonly [refusal: RegExp, fix: string])[] = [
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER_CERT(_LOCALLY)?|VERIFY_LEAF_SIGNATURE))$/,
    'set NODE_EXTRA_CA_CERTS to the certificate file of the authority that signed it; for Postgres, set sslrootcert in its URL',
  ],
  [/^CERT_HAS_EXPIRED$/, 'renew the certificate of that server'],
  [/^CERT_NOT_YET_VALID$/, 'check the clocks of that server and of this machine'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'in the setting, use the host name that the certificate names'],
  [
    /^The server does not support SSL connections$/,
    'sslmode in its URL requires TLS: enable ssl on the server, or omit sslmode on a private network',
  ],
]

/** Like `messageOf`; for an expected fault, the problem and its fix. */
export function lineOf(error: unknown): string {
  const fix = fixOf(error)
  return fix === null ? problemOf(error) : `${problemOf(error)}; ${fix}`
}

/** Like `lineOf`, without the fix if that is known separately. */
export function problemOf(error: unknown): string {
  if (isFault(error, 'settings_bad')) return error.details.faults.join('\n  ')
  const fixed = ['usage_bad', 'not_found', 'history_lost', 'schema_unknown'] as const
  for (const code of fixed) if (isFault(error, code)) return error.details.problem
  if (isFault(error, 'remote_failed')) return `${error.details.what}: ${error.details.problem}`
  return messageOf(error)
}

export function fixOf(error: unknown): string | null {
  const details = error instanceof Fault ? (error as Fault).details : null
  return details !== null && 'fix' in details ? (details.fix ?? null) : null
}

/** For conditions that only a bug in the program can break. */
export function assert(condition: boolean, invariant: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${invariant}`)
}

function describe(details: object): string {
  return Object.entries(details)
    .map(
      ([name, value]) =>
        `${name} ${Array.isArray(value) ? value.map(valueText).join('; ') : JSON.stringify(value)}`,
    )
    .join(', ')
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const wordMax = 200

/** A word at the cut is dropped whole: half a secret would not be recognised as one. */
export function shorten(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text
  const start = text.slice(0, lengthMax)
  const wordStart = Math.max(
    ...[' ', '"', '\n'].map((mark) => start.lastIndexOf(mark) + 1),
    lengthMax - wordMax,
  )
  return `${start.slice(0, wordStart)}… (${text.length} characters)`
}
