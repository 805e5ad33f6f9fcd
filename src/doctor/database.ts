import type { Settings } from '../config/settings.ts'
import { lineOf } from '../core/errors.ts'
import { ruleSetOf } from '../core/rule-set.ts'
import { type ComponentHealth, judgeDatabase, judgeVitals, schedulerStream, workerStream } from '../health.ts'
import { digestOf } from '../jobs/books/activate-rules.ts'
import { allowedAge, expectedStreams, longestPause } from '../jobs/schedule.ts'
import { isGuarded } from '../ledger/account-guards.ts'
import type { DoctorFinding } from '../presentation/doctor.ts'
import type { Database } from '../store/database.ts'
import { balancesOnOtherSide } from '../store/ledger/accounts.ts'
import { secondsUnsealed } from '../store/ledger/seals.ts'
import { migrationsFolder, migrationsIn } from '../store/migrate.ts'
import {
  countOpen,
  grantsToFix,
  lackOfRights,
  mayChangeBooks,
  monthsWithoutPartition,
  readHealth,
  readServerFacts,
  type ServerFacts,
} from '../store/server-facts.ts'
import { activeRules } from '../store/streams.ts'
import type { Tables } from '../store/tables.ts'
import {
  adviceFor,
  databaseAsked,
  examined,
  fault,
  type IsMade,
  ok,
  openExaminedDatabase,
  warning,
} from './finding.ts'

const versionMin = 180_000
/** Webhooks with a timestamp minutes off are refused, and deadlines use both clocks. */
const clockMaxSeconds = 5
/** Rows are sealed every twenty seconds by default; a longer schedule raises this limit. */
const unsealedMaxSeconds = 300

const readOnly =
  'set DATABASE_URL to the primary server; to make this one the primary: select pg_promote(), or default_transaction_read_only off'
/** For a check that failed to run while others ran. */
const unasked = 'try again; if it persists, see the log of the database server'

export async function databaseFindings(
  settings: Settings,
  isMade: IsMade,
): Promise<readonly DoctorFinding[]> {
  await using db = openExaminedDatabase(settings.databaseUrl)
  try {
    const facts = await readServerFacts(db)
    if (facts.version < versionMin) return [tooOld(facts)]
    const { part, state, says } = judgeDatabase(facts)
    const isFine = state === 'fine'
    return [
      isFine ? ok(part, `Postgres ${major(facts)}, user ${facts.user}`) : fault(part, says, readOnly),
      ...(await examined('clock', unasked, () => clockFinding(db))),
      ...(await rightsAndSchema(db, settings, facts)),
    ]
  } catch (error) {
    const says = lineOf(error)
    return [fault('database', says, adviceFor(says, databaseAsked(isMade)))]
  }
}

function major({ version }: Pick<ServerFacts, 'version'>): number {
  return Math.floor(version / 10_000)
}

function tooOld(facts: ServerFacts): DoctorFinding {
  const says = `Postgres ${major(facts)} is too old; at least ${major({ version: versionMin })} is required`
  return fault('database', says, 'move the database to a newer server (pg_upgrade, or dump and restore)')
}

/** A second query, so that the time to connect does not count; subtracts half the round trip. */
async function clockFinding(db: Database<Tables>): Promise<DoctorFinding> {
  const sentAt = Date.now()
  const { clock } = await readServerFacts(db)
  const seconds = (clock.getTime() - (sentAt + Date.now()) / 2) / 1000
  const off = `${Math.abs(seconds).toFixed(1)} s ${seconds < 0 ? 'behind' : 'ahead of'} this machine`
  if (Math.abs(seconds) <= clockMaxSeconds) return ok('clock', `the database's clock is ${off}`)
  const says = `the database's clock is ${off}; the limit is ${clockMaxSeconds} s`
  return fault('clock', says, 'synchronise both clocks by NTP (timedatectl set-ntp true)')
}

async function rightsAndSchema(
  db: Database<Tables>,
  settings: Settings,
  { isMade, user }: ServerFacts,
): Promise<readonly DoctorFinding[]> {
  const rights = await examined('rights', unasked, () => rightsFinding(db, user))
  // Tables that the user may not read cannot be checked.
  if (rights.some(({ state }) => state === 'fault')) return rights
  if (!isMade) {
    const fix = 'run bin/depositd migrate; a start also migrates'
    return [...rights, warning('schema', 'is not created yet', fix)]
  }
  const vitals = await examined('schema', unasked, () => vitalFindings(db, settings))
  // The remaining checks need this version's schema.
  if (vitals[0]?.state !== 'ok') return [...rights, ...vitals]
  return [...rights, ...vitals, ...(await booksFindings(db, settings))]
}

async function vitalFindings(db: Database<Tables>, settings: Settings): Promise<readonly DoctorFinding[]> {
  const migrations = await migrationsIn(migrationsFolder)
  const expected = { migrations, streams: expectedStreams(settings), waited: null }
  return judgeVitals(await readHealth(db), expected).map(vitalFinding)
}

async function rightsFinding(db: Database<Tables>, user: string): Promise<DoctorFinding> {
  const lack = await lackOfRights(db)
  if (lack === null) return loginFinding(user, await mayChangeBooks(db))
  const [says, statement] =
    lack === 'membership'
      ? [`${user} may not act as depositd_daemon`, `grant depositd_daemon to "${user}"`]
      : [`${user} may not create the roles of the daemon`, `alter role "${user}" createrole`]
  return fault('rights', says, `as a superuser: ${statement}`)
}

function loginFinding(user: string, mayChange: boolean): DoctorFinding {
  if (!mayChange) return ok('rights', `${user} acts as depositd_daemon, and cannot change journals`)
  const says = `${user} owns the books: an attacker who controls the daemon could change journals`
  const fix = 'use a login that is a member of depositd_daemon and owns nothing: docs/security.md#logins'
  return warning('rights', says, fix)
}

const fixes: Readonly<Record<string, string>> = {
  schema:
    'if it is behind, run bin/depositd migrate; if it is ahead, use the newer depositd; if it is unknown, use a new database, or delete the folder .depositd and start',
  inbox: 'start a worker (bin/depositd start --roles worker); if one runs, its log names the failing job',
  [schedulerStream]:
    'start a scheduler (bin/depositd start --roles scheduler), or restart the one that hangs',
  [workerStream]: 'start a worker (bin/depositd start --roles worker), or restart the one that hangs',
}

function vitalFinding({ part, state, says }: ComponentHealth): DoctorFinding {
  if (state === 'fine') return ok(part, says)
  const [job = part, name = ''] = part.split('/')
  const check = job === 'scan' ? `chain ${name}` : 'service, key'
  const fix =
    fixes[part] ??
    `fix what the checks ${check}, scheduler and worker report; then see the log of the job ${job}`
  return { check: part, state, says, fix }
}

async function booksFindings(db: Database<Tables>, settings: Settings): Promise<DoctorFinding[]> {
  const found = await Promise.all([
    examined('grants', unasked, () => grantsFinding(db)),
    examined('partitions', unasked, () => partitionsFinding(db)),
    examined('seals', unasked, () => sealsFinding(db, settings)),
    examined('policy', unasked, () => policyFinding(db, settings)),
    ...(settings.accounts.guards.length === 0
      ? []
      : [examined('accounts', unasked, () => guardsFinding(db, settings))]),
  ])
  return found.flat()
}

async function grantsFinding(db: Database<Tables>): Promise<DoctorFinding> {
  const grants = await grantsToFix(db)
  if (grants.length === 0) return ok('grants', 'the daemon may append to the books, and change nothing')
  const says = `depositd_daemon has other rights than the migrations granted, in ${grants.length} places`
  return fault('grants', says, `as the owner: ${grants.join('; ')}`)
}

async function partitionsFinding(db: Database<Tables>): Promise<DoctorFinding> {
  const months = await monthsWithoutPartition(db)
  if (months.length === 0) return ok('partitions', 'this month and the next have partitions')
  const says = `${months.join(' and ')} has no partition: journals go to the default partition`
  return warning('partitions', says, 'run bin/depositd migrate before that month begins')
}

async function guardsFinding(db: Database<Tables>, { accounts }: Settings): Promise<DoctorFinding> {
  const others = await balancesOnOtherSide(db)
  const broken = others.filter(({ account }) => isGuarded(account, accounts.guards))
  const [first] = broken
  if (first === undefined) return ok('accounts', 'no guarded account is on its other side')
  const { account, balance, asset_symbol: symbol } = first
  const says = `guarded accounts on the other side than usual: ${broken.length}, for example ${account} with ${balance} ${symbol}`
  return warning('accounts', says, `look at its entries: bin/depositd ledger statement ${account}`)
}

async function sealsFinding(db: Database<Tables>, { schedule }: Settings): Promise<DoctorFinding> {
  const broken = await countOpen(db, 'seal_broken')
  if (broken > 0) {
    const says = `${broken} broken: rows differ from what was sealed`
    return fault('seals', says, 'bin/depositd ledger verify; docs/runbook.md#seal_broken')
  }
  const seconds = await secondsUnsealed(db)
  if (seconds <= allowedAge(unsealedMaxSeconds, longestPause(schedule.seal)))
    return ok('seals', seconds === 0 ? 'all rows are sealed' : 'up to date')
  const says = `the oldest unsealed row was written ${Math.floor(seconds)} s ago`
  return fault('seals', says, 'run bin/depositd ledger seal; then find out why the job seal does not run')
}

async function policyFinding(db: Database<Tables>, settings: Settings): Promise<DoctorFinding> {
  const found = await activeRules(db)
  if (found === null) return ok('policy', 'becomes active with the first start')
  if (found.waiting !== undefined && found.waiting === digestOf(ruleSetOf(settings))) {
    const says = 'the policy of these settings waits for approval'
    return warning('policy', says, 'bin/depositd policy approve; docs/policy.md#changing-a-policy')
  }
  if (found.digest !== digestOf(ruleSetOf(settings))) {
    const says = 'the active policy differs from these settings'
    return warning('policy', says, 'restart every worker, or correct DEPOSITD_CONFIG')
  }
  if (found.isApplied) return ok('policy', 'the policy of these settings is active')
  const says = 'is new; not all deposits are queued to be decided again yet'
  return warning('policy', says, 'wait for the starting worker, or start one')
}
