import type { Transaction } from 'kysely'
import type { NetworkSettings } from '../core/asset.ts'
import { type HttpRoute, routeDefiner } from '../http/route.ts'
import type { TokenScope } from '../people/roles.ts'
import type { ApiToken } from '../store/api-tokens.ts'
import type { Database } from '../store/database.ts'
import type { Tables } from '../store/tables.ts'
import type { ReadProblemCode } from './problem.ts'

type HealthProblem = { part: string; problem: string }

/** What the API reads from and writes to. */
export type ReadSources = {
  /** Of a login that only reads. */
  db: Database<Tables>
  services: () => readonly { name: string; isPaused: boolean }[]
  networks: readonly NetworkSettings[]
  health: () => Promise<{
    ready: boolean
    unready: HealthProblem[]
    warnings: HealthProblem[]
    fine: string[]
  }>
  /** Null if there is no such deposit. @throws Fault `usage_bad` if it would not verify */
  bundle: (id: bigint) => Promise<{ id: bigint; text: string } | null>
  /** Of a login that works on cases, and on nothing else. */
  operator: Database<Tables>
  /** People of the register whom the text names. */
  mentionsIn: (tx: Transaction<Tables>, text: string) => Promise<string[]>
  /** As the register writes the name; null if it is not in it. */
  personNamed: (tx: Transaction<Tables>, name: string) => Promise<string | null>
  /** Enters in the audit log that a token took out a bundle. */
  bundleTaken: (deposit: bigint, token: ApiToken) => Promise<void>
}

/** One request of one token. */
export type ReadApi = ReadSources & {
  token: ApiToken
  asOf: Date
  /** One snapshot of the database. */
  read: <Value>(work: (tx: Transaction<Tables>) => Promise<Value>) => Promise<Value>
  /** One transaction. */
  write: <Value>(work: (tx: Transaction<Tables>) => Promise<Value>) => Promise<Value>
  /** Null without one. */
  idempotencyKey: string | null
  /** Whether the caller says that it has a representation, and whether it is this one. */
  hasKnown: boolean
  knows: (body: object) => boolean
  /** @throws Fault `request_refused` if too many requests wait */
  wait: () => Waiting
}

/** `pause` gives false once the caller has gone or the server stops. */
export type Waiting = Disposable & { pause: () => Promise<boolean> }

/** `any`: a token with whichever scope. */
export type ReadScope = TokenScope | 'any'

export type ReadKind = { api: ReadApi; scope: ReadScope; problem: ReadProblemCode }

export type ReadRoute = HttpRoute<ReadKind>

export const defineRoute = routeDefiner<ReadKind>()
