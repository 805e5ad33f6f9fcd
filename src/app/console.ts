import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../config/environment.ts'
import { sharedLinks } from '../config/environment-settings.ts'
import { redactorOf } from '../config/secrets-of.ts'
import type { Settings } from '../config/settings.ts'
import { toTxId } from '../core/asset.ts'
import { rulesOf } from '../core/decide.ts'
import { Fault, messageOf } from '../core/errors.ts'
import { examine } from '../doctor/examine.ts'
import { explainDeposit } from '../jobs/books/decide-again.ts'
import { within } from '../jobs/within.ts'
import { cacheRead } from '../ops/cached-read.ts'
import { sectionNamed } from '../ops/console/markdown.ts'
import type {
  ConsoleDeposit,
  ConsoleReader,
  DoctorRun,
  JournalDetail,
  LedgerReading,
  Overview,
  SectionResult,
} from '../ops/console/reader.ts'
import { serveConsole } from '../ops/console/serve-console.ts'
import type { GaugesReader } from '../ops/gauges.ts'
import { createReadiness, type Readiness } from '../ops/readiness.ts'
import type { OpsSources } from '../ops/server.ts'
import { placeOf, transferDocument } from '../presentation/journal.ts'
import type { Explanation } from '../presentation/reasons.ts'
import { readAssetNames } from '../store/assets.ts'
import { listDeposits } from '../store/books/list-deposits.ts'
import { listProposals } from '../store/books/proposals.ts'
import { findDeposits, showNumberedDeposit } from '../store/books/show-deposits.ts'
import { type ChartFigures, readCharts } from '../store/charts.ts'
import { type Database, openDatabase } from '../store/database.ts'
import { readStatement, trialBalance } from '../store/ledger/accounts.ts'
import { listJournals, readJournal } from '../store/ledger/journals.ts'
import { listPeriods } from '../store/ledger/periods.ts'
import { listCheckpoints } from '../store/ledger/seals.ts'
import { listMismatches } from '../store/mismatches/show-mismatches.ts'
import { listOwners, type OwnerLine } from '../store/owners.ts'
import { listQuarantine, readQuarantine } from '../store/quarantine.ts'
import { listViews } from '../store/saved-views.ts'
import { readScorecard } from '../store/scorecard.ts'
import type { Tables } from '../store/tables.ts'
import { casesPart } from './console-cases.ts'
import { evidenceMax, readBundle, readDispute } from './console-downloads.ts'
import { composePeople, oneAtATime } from './console-people.ts'
import { networkSettingsOf, readSettings } from './console-settings.ts'
import type { DatabaseReading } from './console-sign-in.ts'
import { createBundleMaker } from './evidence-bundle.ts'
import type { Services } from './services.ts'

export type ConsoleDeps = {
  version: string
  services: Pick<Services, 'names' | 'followed'>
  gauges: { read: GaugesReader; nodes?: ConsoleReader['nodes'] }
  readiness: Readiness
  ops: { url: string }
  /** As the user made it. */
  environment?: Environment
}

/** A read-only pool of its own, so page views never take connections from workers. */
const poolMax = 2
const statementMaxMs = 5000
const pageMaxMs = 10_000
const overviewCacheMs = 3000
const ledgerCacheMs = 30_000
const chartsCacheMs = 30_000

const linesMax = 500
const [gravestMax, latestMax, periodsMax, checkpointsMax] = [10, 10, 36, 20]

export function composeConsole(
  settings: Settings,
  { version, services, gauges: { read, nodes = noNodes }, readiness, ops, environment = {} }: ConsoleDeps,
): OpsSources & AsyncDisposable {
  const db = openReadOnly(settings)
  const runbook = readRunbook()
  const { reading, partOf } = readsHiding(redactorOf(settings).hide)
  const askHealth = createReadiness(readiness)
  const charts = cached(chartsCacheMs, () => readCharts(db, new Date()))
  const overview = cached(overviewCacheMs, () => readOverview(db, { read, askHealth, partOf, charts }))
  const scorecard = cached(ledgerCacheMs, () => partOf(readScorecard(db, lastWeek())))
  const ledger = cached(ledgerCacheMs, () => readLedger(db, partOf))
  const current = () => ({ ...settings, ...services.followed() })
  const reader: ConsoleReader = {
    version,
    get services() {
      return services.names()
    },
    networks: settings.networks.map(({ name }) => name),
    explorers: new Map(
      settings.networks.flatMap(({ name, explorer }) => (explorer === undefined ? [] : [[name, explorer]])),
    ),
    dashboards: sharedLinks(settings.links).dashboards,
    overview: () => reading(overview()),
    ...casesPart(db, reading, settings.alerts),
    ...listPart(db, reading),
    findDeposits: async (reference) =>
      (await reading(findDeposits(db, toTxId(reference)))).map(({ id }) => id),
    deposit: (id) => reading(readDeposit(db, id, settings)),
    bundle: (id) => reading(readBundle(db, id, createBundleMaker(current(), version))),
    dispute: (id) => reading(readDispute(db, id, createBundleMaker(current(), version))),
    ledger: () => reading(ledger()),
    journal: (id) => reading(readJournalDetail(db, id)),
    ownAccounts: settings.accounts.known.filter((account) => !account.includes('*')),
    webhook: async (id) => (await reading(readQuarantine(db, { ids: [id], after: 0n, limit: 1 })))[0] ?? null,
    scorecard: () => reading(scorecard()),
    settings: () => reading(readSettings(db, current())),
    networkSettings: settings.networks.map(networkSettingsOf),
    nodes,
    doctor: createDoctor(current, environment),
    runbook: (kind) => sectionNamed(runbook, kind),
  }
  const people = composePeople(settings, { services, opsUrl: ops.url, reading })
  const dispose = async () => void (await Promise.all([db.destroy(), people[Symbol.asyncDispose]()]))
  return { read, readiness, console: serveConsole(reader, people), [Symbol.asyncDispose]: dispose }
}

const noNodes = () => Promise.resolve([])

type ListName = 'views' | 'deposits' | 'journals' | 'statement' | 'addresses' | 'proposals' | 'quarantine'

function listPart(db: Database<Tables>, reading: DatabaseReading): Pick<ConsoleReader, ListName> {
  return {
    views: (page) => reading(listViews(db, page)),
    deposits: (wish) => reading(listDeposits(db, wish)),
    journals: ({ period = null, kind = null, by = null, before = null, limit }) =>
      reading(listJournals(db, { period, kind, by, before }, limit)),
    statement: ({ to, ...wish }) =>
      reading(readStatement(db, { ...wish, before: new Date(Date.parse(to) + dayMs).toISOString() })),
    addresses: ({ after, ...wish }) =>
      reading(listOwners(db, { ...wish, after: after === undefined ? null : addressKey(after) })),
    proposals: (wish) => reading(listProposals(db, wish)),
    quarantine: (wish) => reading(listQuarantine(db, wish)),
  }
}

/** Keeps the findings of the last examination, without secrets. */
function createDoctor(current: () => Settings, environment: Environment): ConsoleReader['doctor'] {
  let last: DoctorRun | null = null
  const run = oneAtATime(async () => {
    const { hide } = redactorOf(current())
    const findings = await examine({ readSettings: current, environment })
    const shown = findings.map(({ check, state, says, fix }) => ({
      check,
      state,
      says: hide(says),
      fix: hide(fix),
    }))
    last = { at: new Date(), findings: shown }
  })
  return { last: () => last, examine: run }
}

function openReadOnly({ databaseUrl: url }: Settings): Database<Tables> {
  return openDatabase<Tables>({
    url,
    poolMax,
    applicationName: 'depositd console',
    role: 'depositd_viewer',
    readOnlyWithinMs: statementMaxMs,
    queryTimeoutMs: statementMaxMs + 1000,
  })
}

const dayMs = 86_400_000
const weekMs = 7 * dayMs

function lastWeek(): { from: Date; to: Date } {
  const now = Date.now()
  return { from: new Date(now - weekMs), to: new Date(now) }
}

/** An id may have slashes of its own. */
function addressKey(text: string): Pick<OwnerLine, 'id' | 'network' | 'address'> {
  const [, id = text, network = '', address = ''] = /^(.*)\/([^/]*)\/([^/]*)$/.exec(text) ?? []
  return { id, network, address }
}

/** A server's message may contain secrets, which are removed. */
function readsHiding(hide: (text: string) => string) {
  const redacted = (error: unknown): string => hide(messageOf(error))
  return {
    /** @throws Fault `remote_failed` on any error that is no fault of ours, or timeout */
    reading: async <Value>(work: Promise<Value>): Promise<Value> => {
      const what = 'reading the database'
      try {
        return await within(pageMaxMs, what, work)
      } catch (error) {
        if (error instanceof Fault) throw error
        throw new Fault('remote_failed', { what, problem: redacted(error) }, { cause: error })
      }
    },
    partOf: async <Value>(work: Promise<Value>): Promise<SectionResult<Value>> => {
      try {
        return { value: await work }
      } catch (error) {
        return { problem: redacted(error) }
      }
    },
  }
}

type SectionReader = ReturnType<typeof readsHiding>['partOf']
type OverviewDeps = {
  read: GaugesReader
  askHealth: ReturnType<typeof createReadiness>
  partOf: SectionReader
  charts: () => Promise<ChartFigures>
}

async function readOverview(
  db: Database<Tables>,
  { read, askHealth, partOf, charts: readLatestCharts }: OverviewDeps,
): Promise<Overview> {
  const [gauges, health, gravest, latest, charts] = await Promise.all([
    read(),
    askHealth(),
    partOf(listMismatches(db, { limit: gravestMax, also: 'nothing' })),
    partOf(listDeposits(db, { limit: latestMax })),
    partOf(readLatestCharts()),
  ])
  return { readAt: new Date(), gauges, health, gravest, latest, charts }
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
        problem: `too much evidence to explain here; run "bin/depositd deposits show ${shown.id}"`,
      }
    : await explainDeposit(db, shown, rulesOf(settings))
  return { ...shown, evidence: shown.evidence.slice(0, evidenceMax), isCut, explanation }
}

async function readLedger(db: Database<Tables>, partOf: SectionReader): Promise<LedgerReading> {
  const now = { asOf: null, recordedAsOf: null }
  const [trial, periods, checkpoints] = await Promise.all([
    partOf(trialBalance(db, now, { limit: linesMax })),
    partOf(listPeriods(db, { limit: periodsMax })),
    partOf(listCheckpoints(db, { limit: checkpointsMax })),
  ])
  return { readAt: new Date(), trial, periods, checkpoints }
}

async function readJournalDetail(db: Database<Tables>, id: bigint): Promise<JournalDetail | null> {
  const journal = await readJournal(db, id)
  if (journal === null) return null
  const assets = await readAssetNames(db)
  const transfers = journal.transfers.map((transfer) => transferDocument(transfer, assets))
  return { ...journal, place: placeOf(journal), transfers }
}

/** Kept that long, however fast the read was. Failures are not cached. */
function cached<Value>(keptMaxMs: number, read: () => Promise<Value>): () => Promise<Value> {
  const limits = { shortMs: 0, timesKept: Infinity, waitMs: pageMaxMs, hangMs: pageMaxMs }
  const readCached = cacheRead(read, { keptMaxMs, ...limits })
  return async () => (await readCached()).value
}

/** Without installed documentation, mismatches are shown without the runbook. */
function readRunbook(): string {
  try {
    return readFileSync(join(import.meta.dirname, '../../docs/runbook.md'), 'utf8')
  } catch {
    return ''
  }
}
