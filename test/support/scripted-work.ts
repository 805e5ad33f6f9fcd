import type { ScanResult, StagedTransfer, TransactionReading } from '../../src/chain/types.ts'
import { defaultService } from '../../src/core/evidence.ts'
import type { NetworkReader } from '../../src/jobs/chain/scan.ts'
import type { SearchReader } from '../../src/jobs/chain/search-legs.ts'
import type { TransactionReader } from '../../src/jobs/chain/verify-transactions.ts'
import { createWork, type DaemonWork, type WorkDeps } from '../../src/jobs/work.ts'
import type { OwnersClient } from '../../src/provider/owners-client.ts'
import { type Books, openBooks } from './books.ts'
import { at, base, credit, payment } from './evidence.ts'
import { ownProfile } from './profile.ts'

/** All jobs over real books, with a reader of Base that answers what a test wrote down. */
export type ScriptedWork = AsyncDisposable & {
  books: Books
  /** What was done and told, in order. */
  reported: string[]
  /** What the next scans find; later ones find nothing. */
  scans: Partial<ScanResult>[]
  /** What is read of the next transactions; later ones are unknown. */
  verifications: TransactionReading[]
  reader: NetworkReader & TransactionReader & SearchReader
  work: (changes?: Partial<WorkDeps>) => DaemonWork
}

/** A service without lists of owners. */
/** What an installation with one service has of it. */
export const ofDefault = <One>(one: One) => new Map([[defaultService, one]])

export const unlistedOwners: OwnersClient = {
  createChannel: () => Promise.reject(new Error('not used')),
  createStableWallet: () => Promise.reject(new Error('not used')),
  list: () => Promise.resolve(null),
}

/** Where reading stands after a scan that found nothing. */
export const cursor = { final: { height: 20n, hash: '0x20' }, seenHeight: 20n, trail: [] }

const nothingFound = { transfers: [], movements: [], proved: [], dissent: [] }

const { kind: _kind, role: _role, epoch: _epoch, receivedAt: _at, ...facts } = payment()

/** The payment of the made-up world, as a reader tells it. */
export const transfer: StagedTransfer = { ...facts, stage: 'final' }

export async function openScriptedWork(): Promise<ScriptedWork> {
  const books = await openBooks()
  const reported: string[] = []
  const world: ScriptedWork = {
    books,
    reported,
    scans: [],
    verifications: [],
    reader: {
      network: base,
      heightAt: () => Promise.resolve(10n),
      timeAt: () => Promise.resolve(at(0)),
      nodesWithout: () => Promise.resolve([]),
      readRange: ({ from, to }) => {
        reported.push(`read ${from} to ${to}`)
        return Promise.resolve({ ...nothingFound, proved: [{ from, to }], reached: to })
      },
      checkIdentity: () => Promise.resolve(void reported.push('identity')),
      scan() {
        reported.push('scan')
        const result = { ...nothingFound, cursor, headHeight: 22n, rewoundTo: null, more: false }
        return Promise.resolve({ ...result, ...world.scans.shift() })
      },
      readTransaction(tx) {
        reported.push(`verify ${tx.slice(-4)}`)
        return Promise.resolve(world.verifications.shift() ?? { kind: 'unknown' })
      },
    },
    work: (changes = {}) => createWork({ ...scriptedDeps(world), ...changes }),
    [Symbol.asyncDispose]: () => books[Symbol.asyncDispose](),
  }
  return world
}

function scriptedDeps({ books, reported, reader }: ScriptedWork): WorkDeps {
  return {
    ...books.deps,
    holder: 'me',
    leaseMs: 600_000,
    overlapMs: 0,
    startHeights: new Map(),
    assets: new Map(),
    sweepEveryMs: 0,
    youngMs: 3_600_000,
    quietMs: 3_600_000,
    clients: ofDefault({
      service: defaultService,
      list: ownProfile.list,
      listDeposits: () => Promise.resolve({ records: [], next: null }),
      readDeposit: () => Promise.resolve(null),
    }),
    owners: ofDefault(unlistedOwners),
    wallets: new Map(),
    log: { signer: null, witnesses: [], administratorKey: null },
    prices: { urls: [], conversionRates: false },
    creditAsset: credit,
    networks: [],
    proven: [],
    readers: new Map([[base, reader]]),
    mayVerify: () => true,
    deliver: () => void reported.push('deliver'),
    wake: (job, key = '') => Promise.resolve(void reported.push(`wake ${job} ${key}`.trim())),
    observe: {
      applied: ({ rows, groups }) => void reported.push(`applied ${rows} ${groups}`),
      polled: () => undefined,
      jobFailed: (job, _error, key) => void reported.push(`failed ${job} ${key}`),
      mismatches: (all) => void reported.push(...all.map(({ kind, change }) => `${kind} ${change}`)),
      rewound: (network) => void reported.push(`rewound ${network}`),
    },
  }
}
