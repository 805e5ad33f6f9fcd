import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sharedLinks } from '../config/link-settings.ts'
import type { Settings } from '../config/settings.ts'
import { toTxId } from '../core/asset.ts'
import { Fault, isFault, messageOf } from '../core/errors.ts'
import { rulesOf } from '../core/rules-of.ts'
import { explainDeposit } from '../jobs/books/explain-deposit.ts'
import { within } from '../jobs/within.ts'
import { sectionNamed } from '../ops/console/markdown.ts'
import type {
  ConsoleDeposit,
  ConsoleReader,
  LedgerReading,
  Overview,
  SectionResult,
} from '../ops/console/reading.ts'
import { serveConsole } from '../ops/console/serve-console.ts'
import type { ReadGauges } from '../ops/read-gauges.ts'
import { createReadiness, type Readiness } from '../ops/readiness.ts'
import type { OpsSources } from '../ops/server.ts'
import type { Explanation } from '../presentation/told-reasons.ts'
import { findDeposits, showNumberedDeposit } from '../store/books/show-deposit.ts'
import { type Database, openDatabase } from '../store/database.ts'
import { trialBalance } from '../store/ledger/balances.ts'
import { listPeriods } from '../store/ledger/list-periods.ts'
import { newestSeals } from '../store/ledger/seals.ts'
import { showMismatch } from '../store/mismatches/show-mismatch.ts'
import { listDeposits, listMismatches } from '../store/reports.ts'
import type { Tables } from '../store/tables.ts'
import { hiddenOf } from './hidden.ts'

export type ConsoleDeps = {
  version: string
  /** Reads what metrics show. */
  read: ReadGauges
  readiness: Readiness
}

/** Of its own, so that whoever looks takes no connection from who works; and nothing can be written through them. */
const poolMax = 2
const statementMaxMs = 5000
const pageMaxMs = 10_000
/** What is costly to read is kept for so long, whoever asks, and however often. */
const overviewKeptMs = 3000
const ledgerKeptMs = 30_000

const evidenceMax = 500
const linesMax = 500
const [gravestMax, latestMax, periodsMax, sealsMax] = [10, 10, 36, 20]

/** Those that are open stand in an index of their own, and can be sorted by how grave they are. */
const listed = {
  open: { also: 'nothing' },
  snoozed: { also: 'snoozed' },
  all: { also: 'all', isNewestFirst: true },
} as const

/** All that is shown of this daemon, with the console: what that shows is read by connections of its own. */
export function composeConsole(
  settings: Settings,
  { version, read, readiness }: ConsoleDeps,
): OpsSources & AsyncDisposable {
  const db = openDatabase<Tables>({
    url: settings.databaseUrl,
    poolMax,
    applicationName: 'depositd console',
    role: 'depositd_daemon',
    readOnlyWithinMs: statementMaxMs,
    queryTimeoutMs: statementMaxMs + 1000,
  })
  const runbook = readRunbook()
  const { reading, partOf } = readsHiding(hiddenOf(settings).hide)
  const askHealth = createReadiness(readiness)
  const overview = kept(overviewKeptMs, () => readOverview(db, { read, askHealth, partOf }))
  const ledger = kept(ledgerKeptMs, () => readLedger(db, partOf))
  const reader: ConsoleReader = {
    version,
    networks: settings.networks.map(({ name }) => name),
    dashboards: sharedLinks(settings.links).dashboards,
    overview: () => reading(overview()),
    mismatches: ({ status, ...wish }) => reading(listMismatches(db, { ...wish, ...listed[status] })),
    mismatch: (id) => reading(showMismatch(db, id)),
    deposits: (wish) => reading(listDeposits(db, wish)),
    findDeposits: async (reference) =>
      (await reading(findDeposits(db, toTxId(reference)))).map(({ id }) => id),
    deposit: (id) => reading(readDeposit(db, id, settings)),
    ledger: () => reading(ledger()),
    runbook: (kind) => sectionNamed(runbook, kind),
  }
  const pages = serveConsole(reader)
  return { read, readiness, console: pages, [Symbol.asyncDispose]: () => db.destroy() }
}

/** Ways to read of which whoever looks is told what went wrong, without what servers may say of secrets. */
function readsHiding(hide: (text: string) => string) {
  const said = (error: unknown): string => hide(messageOf(error))
  return {
    /** @throws Fault `remote_failed` whatever went wrong, or where it takes too long */
    reading: async <Value>(work: Promise<Value>): Promise<Value> => {
      const what = 'reading the database'
      try {
        return await within(pageMaxMs, what, work)
      } catch (error) {
        if (isFault(error, 'remote_failed')) throw error
        throw new Fault('remote_failed', { what, problem: said(error) }, { cause: error })
      }
    },
    partOf: async <Value>(work: Promise<Value>): Promise<SectionResult<Value>> => {
      try {
        return { value: await work }
      } catch (error) {
        return { problem: said(error) }
      }
    },
  }
}

type SectionReader = ReturnType<typeof readsHiding>['partOf']
type OverviewDeps = { read: ReadGauges; askHealth: ReturnType<typeof createReadiness>; partOf: SectionReader }

async function readOverview(
  db: Database<Tables>,
  { read, askHealth, partOf }: OverviewDeps,
): Promise<Overview> {
  const [gauges, health, gravest, latest] = await Promise.all([
    read(),
    askHealth(),
    partOf(listMismatches(db, { limit: gravestMax, also: 'nothing' })),
    partOf(listDeposits(db, { limit: latestMax })),
  ])
  return { readAt: new Date(), gauges, health, gravest, latest }
}

async function readDeposit(
  db: Database<Tables>,
  id: bigint,
  settings: Settings,
): Promise<ConsoleDeposit | null> {
  const shown = await showNumberedDeposit(db, id, evidenceMax + 1)
  if (shown === null) return null
  const isCut = shown.evidence.length > evidenceMax
  const explanation: Explanation = isCut
    ? {
        problem: `there is very much evidence of it; "bin/depositd deposits show ${shown.id}" takes the time`,
      }
    : await explainDeposit(db, shown, rulesOf(settings))
  return { ...shown, evidence: shown.evidence.slice(0, evidenceMax), isCut, explanation }
}

async function readLedger(db: Database<Tables>, partOf: SectionReader): Promise<LedgerReading> {
  const now = { asOf: null, recordedAsOf: null }
  const [trial, periods, seals] = await Promise.all([
    partOf(trialBalance(db, now, linesMax)),
    partOf(listPeriods(db, { limit: periodsMax })),
    partOf(newestSeals(db, { limit: sealsMax })),
  ])
  return { readAt: new Date(), trial, periods, seals }
}

/** Reads at most once in so long; who asks while it is read waits for the same. What failed is not kept. */
function kept<Value>(keptMs: number, read: () => Promise<Value>): () => Promise<Value> {
  let last: { at: number; value: Promise<Value> } | null = null
  return () => {
    const now = performance.now()
    if (last === null || now - last.at >= keptMs) {
      const value = read()
      const current = { at: now, value }
      last = current
      value.catch(() => {
        if (last === current) last = null
      })
    }
    return last.value
  }
}

/** Where the program was installed without its documentation, mismatches are shown without it. */
function readRunbook(): string {
  try {
    return readFileSync(join(import.meta.dirname, '../../docs/runbook.md'), 'utf8')
  } catch {
    return ''
  }
}
