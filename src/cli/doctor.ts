import { readDecimals } from '../chain/decimals.ts'
import { createReader } from '../chain/reader.ts'
import type { Settings } from '../config/settings.ts'
import type { NetworkSettings } from '../core/asset.ts'
import { isFault, messageOf } from '../core/errors.ts'
import { openScheme } from '../intake/live-scheme.ts'
import { createQueue, queueLimits } from '../jobs/queue/queue.ts'
import { createDepositClient } from '../provider/deposit-client.ts'
import { type KeyScope, probeScope } from '../provider/probe-scope.ts'
import type { Profile } from '../provider/profile/profile-schema.ts'
import { createServiceCall } from '../provider/service-call.ts'
import { loadServiceProfile } from '../service-profile.ts'
import { pinFaults, pinnedNetworks } from '../store/assets.ts'
import { openDatabase, pingDatabase } from '../store/database.ts'
import type { Tables } from '../store/tables.ts'
import { attachedSettings, type Context } from './context.ts'
import { balanceFindings } from './doctor-balances.ts'
import { type Column, type News, printRows } from './print.ts'

type Finding = { check: string; state: 'ok' | 'warning' | 'fault'; says: string }

/** Checks every setting and connection, and prints what it found. Bad news where there is a fault. */
export async function doctorCommand(
  context: Context,
  { json, balances }: { json?: boolean; balances?: boolean },
): Promise<News> {
  const findings = await examine(context, balances === true)
  printRows(context, findings, { columns, json: json === true, empty: '' })
  return findings.some(({ state }) => state === 'fault') ? 'bad' : 'good'
}

async function examine(context: Context, balances: boolean): Promise<Finding[]> {
  try {
    const settings = attachedSettings(context)
    const profile = loadServiceProfile(settings)
    const found: Finding = { check: 'settings', state: 'ok', says: 'can be read' }
    const findings = await Promise.all(checksOf(settings, profile))
    const proved = balances ? await balanceFindings(settings) : []
    return [found, ...findings.flat(), ...proved]
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    return error.details.faults.map((says): Finding => ({ check: 'settings', state: 'fault', says }))
  }
}

function checksOf(settings: Settings, profile: Profile): Promise<Finding | Finding[]>[] {
  const { service, networks, webhooks } = settings
  return [
    check('database', () => askDatabase(settings)),
    check('queue', () => askQueue(settings)),
    check('service', () => askService(settings, profile)),
    probeScope(service, profile.owners.channels.create.path).then(scopeFinding),
    Promise.resolve(webhookFindings(webhooks)),
    ...networks.map((network) => chainFindings(network, settings)),
  ]
}

/** `ask` tells what it found, or throws. */
async function check(name: string, ask: () => Promise<string>): Promise<Finding> {
  try {
    return { check: name, state: 'ok', says: await ask() }
  } catch (error) {
    const problem = isFault(error, 'remote_failed')
      ? `${error.details.what}: ${error.details.problem}`
      : messageOf(error)
    return { check: name, state: 'fault', says: problem }
  }
}

async function askDatabase({ databaseUrl: url }: Settings): Promise<string> {
  const db = openDatabase({ url, poolMax: 1, applicationName: 'depositd doctor' })
  try {
    await pingDatabase(db)
    return 'answers'
  } finally {
    await db.destroy()
  }
}

async function askQueue({ queueUrl: url }: Settings): Promise<string> {
  const queue = await createQueue({ url, name: 'depositd', limits: queueLimits, report: () => undefined })
  try {
    await queue.ping()
    return 'answers'
  } finally {
    await queue.stop()
  }
}

async function askService({ service }: Settings, profile: Profile): Promise<string> {
  const call = createServiceCall(service)
  const page = await createDepositClient({ url: service.url, call }, profile).listDeposits({
    mark: null,
    since: null,
  })
  return `lists deposits: ${page?.records.length ?? 0} on the first page`
}

const scopeFindings: Record<KeyScope, Omit<Finding, 'check'>> = {
  read: { state: 'ok', says: 'may read and not create' },
  write: {
    state: 'warning',
    says: 'may create; give the daemon a key of scope read, and this one only to channels create and wallets create',
  },
  refused: { state: 'fault', says: 'SERVICE_API_KEY is refused: it is wrong or revoked' },
  unknown: { state: 'ok', says: 'what it may do cannot be told without doing it' },
}

function scopeFinding(scope: KeyScope): Finding {
  return { check: 'key', ...scopeFindings[scope] }
}

function webhookFindings({ signing, keys }: Settings['webhooks']): Finding[] {
  const name = 'webhooks'
  if (signing.scheme === 'none')
    return [
      {
        check: name,
        state: 'warning',
        says: 'are not signed: anybody who reaches the port is believed; set webhooks.scheme',
      },
    ]
  try {
    openScheme({ signing, keys }, new Date())
    return [{ check: name, state: 'ok', says: `are verified by ${signing.scheme}` }]
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    return error.details.faults.map((says): Finding => ({ check: name, state: 'fault', says }))
  }
}

function chainFindings(network: NetworkSettings, { databaseUrl }: Settings): Promise<Finding | Finding[]> {
  const name = `chain ${network.name}`
  if (network.rpcUrls.length > 0) return checkChain(name, network, databaseUrl)
  const says = `is not read; set RPC_${network.name.toUpperCase()} where deposits or forwards are on it`
  return Promise.resolve({ check: name, state: 'warning', says })
}

async function checkChain(name: string, network: NetworkSettings, url: string): Promise<Finding[]> {
  const known = await recallDecimals(network, url)
  const faults = known.faults.map((says): Finding => ({ check: name, state: 'fault', says }))
  const { unpinned = [] } = known.network
  const found = await check(name, async () => {
    await createReader(known.network).checkIdentity()
    const read = unpinned.length === 0 ? [] : await readDecimals(known.network, unpinned)
    const told = read.map(
      ({ symbol, decimals }) => `; ${symbol} has ${decimals} decimals, pinned at the start`,
    )
    return `is the chain of the settings, and so are its assets${told.join('')}`
  })
  return faults.length > 0 && found.state === 'ok' ? faults : [...faults, found]
}

/** What the database has of the assets: nothing before the first start, nor where it does not answer, which is a check. */
async function recallDecimals(network: NetworkSettings, url: string) {
  const db = openDatabase<Tables>({ url, poolMax: 1, applicationName: 'depositd doctor' })
  try {
    const [known = network] = await pinnedNetworks(db, [network])
    return { network: known, faults: await pinFaults(db, network.assets) }
  } catch {
    return { network, faults: [] }
  } finally {
    await db.destroy()
  }
}

const columns: Column<Finding>[] = [
  { title: 'CHECK', of: (finding) => finding.check },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'SAYS', of: ({ says }) => says },
]
