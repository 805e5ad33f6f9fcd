import { readDecimals } from '../chain/reader.ts'
import { isQueueInDatabase, type StorageUrls } from '../config/environment-settings.ts'
import type { Settings } from '../config/settings.ts'
import type { NetworkSettings } from '../core/asset.ts'
import { Fault, messageOf } from '../core/errors.ts'
import { compareSchema } from '../health.ts'
import { pinDecimals } from '../jobs/chain/pin-decimals.ts'
import { prepareQueueSchema } from '../jobs/queue/schema.ts'
import type { Observer } from '../ops/observe.ts'
import { pinAssets } from '../store/assets.ts'
import { type Database, openDatabase, standbyFault } from '../store/database.ts'
import { isDenied, untilReached } from '../store/database-errors.ts'
import { keepAccountLabels } from '../store/ledger/accounts.ts'
import { makePartitions } from '../store/ledger/maintenance.ts'
import {
  type MigrationAccess,
  migrate,
  migrationsFolder,
  migrationsIn,
  readMigrationAccess,
  refuseUnusable,
} from '../store/migrate.ts'
import type { Tables } from '../store/tables.ts'

/** A migration may rewrite years of bookings. */
const migrationMaxMs = 3_600_000
/** A worker keeps one of them for its lock. */
const poolMax = 13

/**
 * Waits until the database is reachable. Decimals that the settings leave out are read from the chains.
 * @throws Fault `settings_bad`, `remote_failed` or `schema_unknown`
 */
export async function prepareDatabase(
  configured: Settings,
  observer: Observer,
): Promise<{ db: Database<Tables>; settings: Settings }> {
  await untilReached(() => bringUpToDate(configured), observer.serverAwaited)
  const db = await untilReached(() => openAsDaemon(configured), observer.serverAwaited)
  try {
    return { db, settings: { ...configured, networks: await readDecimalsOf(db, configured, observer) } }
  } catch (error) {
    await db.destroy()
    throw error
  }
}

/**
 * Migrates only if the user of the URL owns the schema; the queue's too, if it is in the same database. A daemon should
 * log in as another user, who is refused if the owner has to migrate first.
 * @returns the names of the migrations that were applied
 * @throws Fault `remote_failed` that says what to run, or `schema_unknown`
 */
export async function bringUpToDate(urls: StorageUrls): Promise<readonly string[]> {
  const db = openDatabase<Tables>({
    url: urls.databaseUrl,
    poolMax: 2,
    applicationName: 'depositd migrate',
    queryTimeoutMs: migrationMaxMs,
  })
  try {
    const access = await readMigrationAccess(db).catch((error: unknown) => explainUnreached(error, urls))
    if (access.isStandby) throw standbyFault(urls.databaseUrl)
    if (!access.mayMigrate) return await refuseOther(access)
    const applied = await migrate(db, migrationsFolder)
    await makePartitions(db)
    if (isQueueInDatabase(urls)) await prepareQueue(urls)
    return applied
  } finally {
    await db.destroy()
  }
}

function explainUnreached(error: unknown, { databaseUrl }: StorageUrls): never {
  const what = `connecting to DATABASE_URL (${new URL(databaseUrl).host})`
  throw new Fault('remote_failed', { what, problem: messageOf(error) }, { cause: error })
}

/** A newer schema is accepted unless it was contracted: the owner migrates before the daemons are replaced. */
async function refuseOther({ user, migrations }: MigrationAccess): Promise<readonly string[]> {
  const own = await migrationsIn(migrationsFolder)
  const state = refuseUnusable(compareSchema(migrations ?? [], own))
  if (state.kind === 'current' || state.kind === 'newer') return []
  const isAt = 'at' in state ? `it is at ${state.at}` : `${user} cannot read its version`
  const problem = `${isAt}, this version needs ${own.at(-1)}, and ${user} may not migrate it: run "bin/depositd migrate" with the DATABASE_URL of the owner first, and grant depositd_daemon to ${user}`
  throw new Fault('remote_failed', { what: 'the schema of the database', problem })
}

async function prepareQueue({ databaseUrl: url }: StorageUrls): Promise<void> {
  try {
    await prepareQueueSchema({ url, name: 'depositd' })
  } catch (error) {
    const problem = isDenied(error) ? `${error.message}; ${queueRights}` : messageOf(error)
    throw new Fault('remote_failed', { what: 'the schema of the queue', problem }, { cause: error })
  }
}

const queueRights = 'the user of DATABASE_URL must own it and be allowed to create schemas'

/**
 * Opens it as a role that may add to the books but never change them.
 * @throws Fault `remote_failed` if the user of the URL is not a member of the role
 */
async function openAsDaemon({
  databaseUrl: url,
  creditAsset,
  accounts,
}: Settings): Promise<Database<Tables>> {
  const db = openDatabase<Tables>({ url, poolMax, applicationName: 'depositd', role: 'depositd_daemon' })
  try {
    await makePartitions(db)
    await pinAssets(db, [creditAsset])
    await keepAccountLabels(db, accounts.labels)
    return db
  } catch (error) {
    await db.destroy()
    if (!isDenied(error)) throw error
    const user = decodeURIComponent(new URL(url).username)
    const problem = `${error.message}; as the owner: grant depositd_daemon to "${user}"`
    throw new Fault('remote_failed', { what: 'working as depositd_daemon', problem }, { cause: error })
  }
}

function readDecimalsOf(
  db: Database<Tables>,
  { networks }: Settings,
  { rpc }: Observer,
): Promise<NetworkSettings[]> {
  return pinDecimals(db, networks, (network, labels) => readDecimals(network, labels, { observe: rpc }))
}
