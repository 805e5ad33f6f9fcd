import { contradictionsOf, ownerKey } from '../../core/address-book.ts'
import type { NetworkSettings } from '../../core/asset.ts'
import { messageOf } from '../../core/errors.ts'
import { type Owner, type ServiceName, serviceOf } from '../../core/evidence.ts'
import type { NoteSigner, Witness } from '../../ledger/checkpoint.ts'
import { sealedTableNames } from '../../ledger/sealed-tables.ts'
import type { OwnersClient } from '../../provider/owners-client.ts'
import type { WalletsClient } from '../../provider/wallets-client.ts'
import {
  type BooksCheckResult,
  findImbalances,
  syncChecked,
  syncImbalances,
} from '../../store/books/books-audit.ts'
import { recountDeposits } from '../../store/books/deposit-counts.ts'
import { type Database, inTransaction } from '../../store/database.ts'
import {
  cutLedger,
  isBusy,
  isSnapshotDue,
  makePartitions,
  makeSnapshot,
  patiently,
  snapshotDays,
  snapshotFaults,
} from '../../store/ledger/maintenance.ts'
import { addConversionRates } from '../../store/ledger/prices.ts'
import { type MismatchChange, syncAddressChanged } from '../../store/mismatches/mismatches.ts'
import { readOwners } from '../../store/owners.ts'
import type { Tables } from '../../store/tables.ts'
import { rulesInForce } from './activate-rules.ts'
import { auditWallets, isLasting, type WalletAuditDeps } from './audit-wallets.ts'
import { checkSeals, faultsOfEnd, startCheck } from './check-seals.ts'
import { fetchPrices } from './fetch-prices.ts'
import { findingOf } from './ledger-checks.ts'
import { sealBooks } from './seal-books.ts'
import { submitCheckpoint } from './submit-checkpoint.ts'
import { valueBooks } from './value-books.ts'

export type LedgerWorkDeps = AuditDeps &
  WalletAuditDeps & {
    wallets: ReadonlyMap<ServiceName, WalletsClient>
    /** `urls` are addresses of price files. */
    prices: { urls: readonly string[]; conversionRates: boolean }
    /** Without a signer, checkpoints are not signed. */
    log: { signer: NoteSigner | null; witnesses: readonly Witness[]; administratorKey: string | null }
    /** May fail: the next audit reads the wallet. */
    wake: (job: 'wallet', wallet: string) => Promise<void>
    observe: {
      mismatches: (changes: readonly MismatchChange[]) => void
      jobFailed: (job: 'wallet' | 'seal' | 'audit', error: unknown, key: string) => void
    }
  }

export type LedgerWork = {
  audit: () => Promise<void>
  /** Withdrawals and balances of the StableWallets of a service. */
  wallets: (service: string) => Promise<void>
  /** The same of one wallet, by its id among services. */
  wallet: (id: string) => Promise<void>
  seal: () => Promise<void>
}

/** A quarter of the time between two runs by default, and half of what a stop waits for a job. */
const sealRestMaxMs = 5000

export function createLedgerWork(deps: LedgerWorkDeps): LedgerWork {
  const { db, observe, log } = deps
  const auditSeals = createSealAudit(db, log.signer)
  const auditSnapshots = createSnapshotAudit(db)
  const wallets = (name: string) => readWallets(deps, name as ServiceName)
  return {
    audit: () =>
      each([
        () => orNextTime(() => snapshotBooks(db)),
        ...deps.prices.urls.map((url) => () => readPrices(deps, url)),
        ...(deps.prices.conversionRates ? [() => addConversionRates(db)] : []),
        () => valueNew(deps),
        async () => observe.mismatches(await auditBooks(db)),
        () => auditCounts(deps),
        async () => observe.mismatches(await auditSnapshots()),
        ...[...deps.owners].map(([name, client]) => async () => {
          const { changes } = await auditOwners({ ...deps, owners: new Map([[name, client]]) })
          observe.mismatches(changes)
        }),
        ...[...deps.wallets.keys()].map((name) => () => wallets(name)),
      ]),
    wallets,
    wallet: (id) => readWallets(deps, serviceOf(id), id),
    seal: () =>
      each([
        () => sealBooks(db, log.signer, { pinned: log.administratorKey, restMaxMs: sealRestMaxMs }),
        async () => observe.mismatches(await auditSeals()),
        ...log.witnesses.map((witness) => () => askWitness(deps, witness)),
      ]),
  }
}

/** @throws the last failure if the service does not answer */
async function readWallets(deps: LedgerWorkDeps, service: ServiceName, named?: string): Promise<void> {
  const { wallets, wake, observe } = deps
  const client = wallets.get(service)
  if (client === undefined) return
  const rules = await rulesInForce(deps.db, deps.rules)
  const { changes, unread, isAway } = await auditWallets({ ...deps, rules }, client, named)
  observe.mismatches(changes)
  const faults = Map.groupBy(unread, ({ fault }) => isLasting(fault))
  for (const { wallet, fault } of faults.get(true) ?? []) observe.jobFailed('wallet', fault, wallet)
  if (isAway) throw unread.at(-1)?.fault
  for (const { wallet } of faults.get(false) ?? []) await wake('wallet', wallet)
}

/** @throws Error that names what was wrong, and is right now */
async function auditCounts({ db }: LedgerWorkDeps): Promise<void> {
  const [first, ...more] = await recountDeposits(db)
  if (first === undefined) return
  throw new Error(`numbers of deposits were wrong and are corrected: ${first}, and ${more.length} more`)
}

/** What lasts, like a missing right, must not let the whole audit run again and again. */
async function valueNew({ db, observe }: LedgerWorkDeps): Promise<void> {
  try {
    await orNextTime(() => valueBooks(db))
  } catch (error) {
    observe.jobFailed('audit', error, 'values')
  }
}

/** A source that does not answer is only reported: what lacks a price is valued by a later audit. */
async function readPrices({ db, observe }: LedgerWorkDeps, url: string): Promise<void> {
  try {
    await fetchPrices(db, url)
  } catch (error) {
    observe.jobFailed('audit', error, new URL(url).host)
  }
}

/**
 * A refusal is an open `seal_broken` until the witness confirms a checkpoint. A witness that does not answer is only
 * reported: a failing job would be retried with growing pauses, and rows would be sealed later.
 */
async function askWitness({ db, observe }: LedgerWorkDeps, witness: Witness): Promise<void> {
  const { name } = witness.key
  try {
    const refusal = await submitCheckpoint(db, witness)
    const checked = { subject: `witness/${name}`, detail: {}, faults: refusal === null ? [] : [refusal] }
    observe.mismatches(await inTransaction(db, (tx) => syncChecked(tx, 'seal_broken', [checked])))
  } catch (error) {
    observe.jobFailed('seal', error, name)
  }
}

/** Runs every step even if one fails; throws the failures at the end. */
async function each(steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failed: unknown[] = []
  for (const step of steps) await step().catch((error: unknown) => void failed.push(error))
  if (failed.length > 1) throw new AggregateError(failed, failed.map(messageOf).join('; '))
  if (failed.length === 1) throw failed[0]
}

/** If other transactions keep writing, the next run catches up. */
async function orNextTime(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!isBusy(error)) throw error
  }
}

/**
 * Each asset sums to zero, closed deposits leave nothing in transit, and the amount in transit equals the proved
 * balances. A failed check opens a `ledger_imbalance` until it passes.
 */
export function auditBooks(db: Database<Tables>): Promise<MismatchChange[]> {
  return inTransaction(db, async (tx) => syncImbalances(tx, await findImbalances(tx)))
}

/**
 * Creates the partitions of the next months and the snapshots of completed days. Safe to run twice and concurrently.
 * @returns the number of days summed
 * @throws Fault `remote_failed` if open writes do not finish
 */
export async function snapshotBooks(db: Database<Tables>): Promise<number> {
  await makePartitions(db)
  if (!(await isSnapshotDue(db))) return 0
  await patiently('adding up the books', () => cutLedger(db))
  let days = 0
  while ((await makeSnapshot(db)) !== null) days++
  return days
}

const daysOfRun = 10
/** Per day. */
const faultsMax = 10

/**
 * Continues at the next days, and starts over after the last. A day that differs has an open `ledger_imbalance` until
 * it agrees.
 */
export function createSnapshotAudit(
  db: Database<Tables>,
  daysMax = daysOfRun,
): () => Promise<MismatchChange[]> {
  let behind = '-infinity'
  return async () => {
    const days = await snapshotDays(db, behind, daysMax)
    behind = days.length < daysMax ? '-infinity' : (days.at(-1) ?? '-infinity')
    const checked: BooksCheckResult[] = []
    for (const day of days) {
      const faults = await snapshotFaults(db, day, faultsMax)
      checked.push({
        subject: `snapshot/${day}`,
        detail: { recorded: day },
        faults: faults.map((fault) => findingOf(day, fault)),
      })
    }
    return inTransaction(db, (tx) => syncChecked(tx, 'ledger_imbalance', checked))
  }
}

const rowsOfRun = 5000

/**
 * Continues at the next seals, and starts over after the last. A seal that fails has an open `seal_broken` until it
 * passes.
 */
export function createSealAudit(
  db: Database<Tables>,
  signer: NoteSigner | null,
  rowsMax = rowsOfRun,
): () => Promise<MismatchChange[]> {
  let check = startCheck()
  const trust = { published: new Map(), keys: signer === null ? [] : [signer], tables: sealedTableNames }
  return async () => {
    const results: BooksCheckResult[] = []
    let rows = 0
    for await (const { seal, faults, rows: count } of checkSeals(db, check, trust)) {
      results.push({ subject: `seal/${seal.number}`, detail: { seal: seal.number.toString() }, faults })
      rows += count
      if (rows >= rowsMax) break
    }
    if (rows < rowsMax) {
      results.push({ subject: 'log', detail: {}, faults: await faultsOfEnd(db, check, trust.keys) })
      check = startCheck()
    }
    return inTransaction(db, (tx) => syncChecked(tx, 'seal_broken', results))
  }
}

export type AuditDeps = {
  db: Database<Tables>
  owners: ReadonlyMap<ServiceName, OwnersClient>
  networks: readonly NetworkSettings[]
}

export type OwnerAudit = {
  compared: number
  changes: readonly MismatchChange[]
}

/**
 * A contradiction opens an `address_changed`, which clears once the service states the approved value. Owners that the
 * service does not list, or that are not ours, are ignored.
 */
export async function auditOwners(deps: AuditDeps): Promise<OwnerAudit> {
  const audits: OwnerAudit[] = []
  for (const client of deps.owners.values())
    for (const kind of ['channel', 'stable_wallet'] as const) audits.push(await auditKind(deps, client, kind))
  return {
    compared: audits.reduce((sum, { compared }) => sum + compared, 0),
    changes: audits.flatMap(({ changes }) => changes),
  }
}

async function auditKind(
  { db, networks }: AuditDeps,
  client: OwnersClient,
  kind: Owner['kind'],
): Promise<OwnerAudit> {
  const listed = await client.list(kind)
  if (listed === null) return { compared: 0, changes: [] }
  const statements = Map.groupBy(listed, ({ owner }) => ownerKey(owner))
  const entries = await readOwners(
    db,
    kind,
    listed.map(({ owner }) => owner.id),
  )
  const compared = entries.map((entry) => ({
    owner: entry.owner,
    contradictions: (statements.get(ownerKey(entry.owner)) ?? []).flatMap((stated) =>
      contradictionsOf(entry, stated, networks),
    ),
  }))
  return { compared: entries.length, changes: await syncAddressChanged(db, compared) }
}
