import type { Settings } from '../../config/settings.ts'
import { rulesOf } from '../../core/decide.ts'
import { lineOf } from '../../core/errors.ts'
import {
  type ComponentHealth,
  judgeDatabase,
  judgeVitals,
  schedulerStream,
  workerStream,
} from '../../health.ts'
import { digestOf } from '../../jobs/books/activate-rules.ts'
import { pollStream } from '../../jobs/poll/position.ts'
import { allowedAge, expectedStreams, longestPause } from '../../jobs/schedule.ts'
import { type Database, openDatabase } from '../../store/database.ts'
import { secondsUnsealed } from '../../store/ledger/seals.ts'
import { migrationsFolder, migrationsIn } from '../../store/migrate.ts'
import {
  countOpen,
  grantsToFix,
  lackOfRights,
  mayChangeBooks,
  monthsWithoutPartition,
  readHealth,
  readServerFacts,
  type ServerFacts,
} from '../../store/server-facts.ts'
import { activeRules } from '../../store/streams.ts'

import type { Tables } from '../../store/tables.ts'
import {
  adviceFor,
  type DoctorFinding,
  databaseAsked,
  examined,
  fault,
  type IsMade,
  ok,
  requestMaxMs,
  warning,
} from './finding.ts'

const versionMin = 180_000
/** Webhooks with a timestamp that is minutes off are refused, and deadlines and ages use both clocks. */
const clockMaxSeconds = 5
/** Seals are made every ten minutes by default; a longer schedule raises this limit. */
const unsealedMaxSeconds = 3600

const readOnly =
  'point DATABASE_URL at the server that takes writes; where this is to be it: select pg_promote(), or default_transaction_read_only off'
/** Advice for a check that failed to run while others ran. */
const unasked = 'try again; where it stays, the log of the database server tells more'

/** Checks the server, its schema and rights and, if the schema exists, the daemon's work on it. */
export async function databaseFindings(
  settings: Settings,
  isMade: IsMade,
): Promise<readonly DoctorFinding[]> {
  const db = openDatabase<Tables>({
    url: settings.databaseUrl,
    poolMax: 2,
    applicationName: 'depositd doctor',
    queryTimeoutMs: requestMaxMs,
  })
  try {
    const facts = await askFacts(db, isMade)
    if ('state' in facts) return [facts]
    if (facts.version < versionMin) return [tooOld(facts)]
    return [
      databaseFinding(facts),
      ...(await examined('clock', unasked, () => clockFinding(db))),
      ...(await rightsAndSchema(db, settings, facts)),
    ]
  } finally {
    await db.destroy()
  }
}

async function askFacts(db: Database<Tables>, isMade: IsMade): Promise<ServerFacts | DoctorFinding> {
  try {
    return await readServerFacts(db)
  } catch (error) {
    const says = lineOf(error)
    return fault('database', { says, fix: adviceFor(says, databaseAsked(isMade)) })
  }
}

function databaseFinding(facts: ServerFacts): DoctorFinding {
  const { part, state, says } = judgeDatabase(facts)
  if (state === 'fine') return ok(part, `answers: Postgres ${major(facts)}, as ${facts.user}`)
  return fault(part, { says, fix: readOnly })
}

function major({ version }: ServerFacts): number {
  return Math.floor(version / 10_000)
}

function tooOld(facts: ServerFacts): DoctorFinding {
  const says = `is Postgres ${major(facts)}; ${major({ ...facts, version: versionMin })} is the oldest that will do`
  return fault('database', {
    says,
    fix: 'move the database to a newer server (pg_upgrade, or dump and restore)',
  })
}

/** Uses a second query, so that the time to connect does not count, and subtracts half the round trip. */
async function clockFinding(db: Database<Tables>): Promise<DoctorFinding> {
  const sentAt = Date.now()
  const { clock } = await readServerFacts(db)
  const seconds = (clock.getTime() - (sentAt + Date.now()) / 2) / 1000
  const off = `${Math.abs(seconds).toFixed(1)} s ${seconds < 0 ? 'behind' : 'ahead of'} this machine`
  if (Math.abs(seconds) <= clockMaxSeconds) return ok('clock', `the database's is ${off}`)
  return fault('clock', {
    says: `the database's is ${off}; the limit is ${clockMaxSeconds} s`,
    fix: 'set both clocks by NTP (timedatectl set-ntp true), first the one that is wrong',
  })
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
    const fix = 'bin/depositd migrate; a start does it, too'
    return [...rights, warning('schema', { says: 'is not created yet', fix })]
  }
  const vitals = await examined('schema', unasked, () => vitalFindings(db, settings))
  // The remaining checks need the schema of this version.
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
  const says = {
    membership: `${user} may not act as depositd_daemon`,
    creation: `${user} may not create the roles that the daemon works as`,
  }
  const fix = {
    membership: `as a superuser: grant depositd_daemon to "${user}"`,
    creation: `as a superuser: alter role "${user}" createrole`,
  }
  return fault('rights', { says: says[lack], fix: fix[lack] })
}

function loginFinding(user: string, mayChange: boolean): DoctorFinding {
  if (!mayChange) return ok('rights', `${user} works as depositd_daemon, and cannot change what is booked`)
  return warning('rights', {
    says: `${user} owns the books: whoever takes over the daemon may change what is booked`,
    fix: 'let the daemon log in as a member of depositd_daemon that owns nothing: docs/security.md#logins',
  })
}

const fixes: Readonly<Record<string, string>> = {
  schema:
    'bin/depositd migrate if it is behind; the newer version of depositd if it is ahead; if it is unknown, a new database, or a start after deleting the folder .depositd',
  inbox:
    'start a worker (bin/depositd start --roles worker); where one runs, its log names the job that fails',
  [schedulerStream]:
    'start a scheduler (bin/depositd start --roles scheduler), or restart the one that hangs',
  [workerStream]: 'start a worker (bin/depositd start --roles worker), or restart the one that hangs',
  [pollStream]: 'mend what the checks service, key, scheduler and worker say; then the log of the job poll',
}

function vitalFinding({ part, state, says }: ComponentHealth): DoctorFinding {
  if (state === 'fine') return ok(part, says)
  const scanned = part.replace(/^scan\//, '')
  const fix =
    fixes[part] ?? `mend what chain ${scanned}, scheduler and worker say; then the log of the job scan`
  return { check: part, state, says, fix }
}

async function booksFindings(db: Database<Tables>, settings: Settings): Promise<DoctorFinding[]> {
  const found = await Promise.all([
    examined('grants', unasked, () => grantsFinding(db)),
    examined('partitions', unasked, () => partitionsFinding(db)),
    examined('seals', unasked, () => sealsFinding(db, settings)),
    examined('policy', unasked, () => policyFinding(db, settings)),
  ])
  return found.flat()
}

async function grantsFinding(db: Database<Tables>): Promise<DoctorFinding> {
  const grants = await grantsToFix(db)
  if (grants.length === 0) return ok('grants', 'the daemon may add to the books and never change them')
  return fault('grants', {
    says: `depositd_daemon has not the rights that the migrations gave it, in ${grants.length} places`,
    fix: `as the owner: ${grants.join('; ')}`,
  })
}

async function partitionsFinding(db: Database<Tables>): Promise<DoctorFinding> {
  const months = await monthsWithoutPartition(db)
  if (months.length === 0) return ok('partitions', 'this month and the next have theirs')
  const says = `${months.join(' and ')} has none: what is booked then goes to the one for everything else`
  return warning('partitions', { says, fix: 'bin/depositd migrate, before that month begins' })
}

async function sealsFinding(db: Database<Tables>, { schedule }: Settings): Promise<DoctorFinding> {
  const broken = await countOpen(db, 'seal_broken')
  if (broken > 0) {
    const says = `${broken} broken: what is booked is not what was sealed`
    return fault('seals', { says, fix: 'bin/depositd ledger verify; docs/runbook.md#seal_broken' })
  }
  const seconds = Math.floor(await secondsUnsealed(db))
  if (seconds <= allowedAge(unsealedMaxSeconds, longestPause(schedule.seal)))
    return ok('seals', seconds === 0 ? 'over all that is booked' : 'are made')
  return fault('seals', {
    says: `the oldest journal without one was booked ${seconds} s ago`,
    fix: 'bin/depositd ledger seal; then look why the job seal does not run',
  })
}

async function policyFinding(db: Database<Tables>, settings: Settings): Promise<DoctorFinding> {
  const found = await activeRules(db)
  if (found === null) return ok('policy', 'comes into force with the first start')
  if (found.digest !== digestOf(rulesOf(settings))) {
    const says = 'that of these settings is not the one in force'
    return warning('policy', { says, fix: 'restart every worker, or correct DEPOSITD_CONFIG' })
  }
  if (found.isApplied) return ok('policy', 'that of these settings is in force')
  const says = 'is new, and not everything is marked yet to be decided again'
  return warning('policy', { says, fix: 'wait for the worker that is starting, or start one' })
}
