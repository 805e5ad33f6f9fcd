import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { embeddedFolder } from '../../config/environment.ts'
import { assetCode } from '../../core/asset.ts'
import { isFault, messageOf } from '../../core/errors.ts'
import { formatAmount } from '../../core/money.ts'
import { decimalText } from '../../presentation/mismatch-sentence.ts'
import type { StartedPart } from '../../sandbox/chains.ts'
import { freePort } from '../../sandbox/free-port.ts'
import type { SandboxNetwork } from '../../sandbox/local-networks.ts'
import { readServicePlace, type ServiceFiles } from '../../sandbox/service-files.ts'
import type { DepositRecord } from '../../service/deposits/record.ts'
import { showAddress } from '../../service/keyring/keyring.ts'
import type { ServiceDatabase } from '../../service/tables.ts'
import { type EventRow, listEvents } from '../../service/webhooks/events.ts'
import type { Context } from '../context.ts'
import { wrongUse } from '../options.ts'
import { print, shellWord } from '../print.ts'
import { untilSignal, version } from '../process.ts'
import { partLine } from '../screen.ts'
import type { ServicePorts, ServiceStartRequest } from './start-configured.ts'

type StartServiceOptions = { port?: number; faults?: boolean; adminPort?: number }

/** Unless it is in use or another is requested. */
const usualAdminPort = 18_081

/** Without settings, all dependencies run on this machine. Returns after the service was stopped. */
export async function startServiceCommand(context: Context, options: StartServiceOptions): Promise<void> {
  const asked = { ...(await readPorts(options)), faults: options.faults === true ? { seed: 'none' } : null }
  const { serviceNamesIn } = await import('../../config/service-settings.ts')
  const names = serviceNamesIn(context.environment)
  if (names.length === 0) await startInSandbox(context, asked)
  else await (await import('./start-configured.ts')).startOwnService(context, { ...asked, names })
}

async function startInSandbox(context: Context, asked: ServiceStartRequest): Promise<void> {
  const { readFrom } = await import('../../config/environment.ts')
  const { readLogLevel } = await import('../../config/environment-settings.ts')
  const { createLog } = await import('../../log/create-log.ts')
  const { startServiceAlone } = await import('../../sandbox/sandbox-service.ts')
  const logFile = join(embeddedFolder, 'service.log')
  const log = createLog({ level: readFrom(context.environment, readLogLevel), file: logFile })
  const say = (line: string): void => {
    if (!context.json) context.stdout.write(`${line}\n`)
  }
  say(`depositd ${version}: the deposit service; data in ${embeddedFolder}/`)
  const stopping = new AbortController()
  const signalled = untilSignal()
  void signalled.then(() => say('stopping'))
  void signalled.then(() => stopping.abort())
  const onPart = (part: StartedPart) => say(partLine(part))
  const starting = startServiceAlone({ ...asked, folder: embeddedFolder, log, onPart })
  const alone = await starting.catch(nameRunning)
  const { url, faultsUrl } = alone.service
  const running = { ...alone, url, faultsUrl, logFile }
  print(context, runningDocument(running), runningText(running))
  const { openServiceDatabase } = await import('../../service/service-database.ts')
  const place = { url: alone.databaseUrl, poolMax: 1, applicationName: 'depositd screen' }
  const db = await openServiceDatabase(place)
  if (!context.json) await followEvents(db, say, stopping.signal)
  await signalled
  await db.destroy()
  await alone.stop().catch((error: unknown) => say(`while stopping: ${messageOf(error)}`))
  say('stopped; the next start continues from here')
}

async function readPorts({ port, faults = false, adminPort }: StartServiceOptions): Promise<ServicePorts> {
  const asked = port === undefined ? {} : { port: await askedPort('port', port) }
  if (!faults) return asked
  return {
    ...asked,
    adminPort:
      adminPort === undefined ? await freePort(usualAdminPort) : await askedPort('admin-port', adminPort),
  }
}

/** A requested port is used or refused, never replaced. */
async function askedPort(name: string, port: number): Promise<number> {
  if ((await freePort(port)) === port) return port
  throw wrongUse(`port ${port} is taken`, `use another --${name}, or omit it to get a free one`)
}

/** A user who starts the service twice usually wants the address of the running one. */
function nameRunning(error: unknown): never {
  const place = readServicePlace(embeddedFolder)
  if (!isFault(error, 'usage_bad') || place === null) throw error
  const { problem, fix } = error.details
  const explained = `${problem}, with a deposit service at ${place.url}`
  throw wrongUse(explained, `use that, ${fix}`, { cause: error })
}

type RunningServiceInfo = {
  url: string
  /** Null if no faults are allowed. */
  faultsUrl: string | null
  networks: readonly SandboxNetwork[]
  keyFiles: ServiceFiles
  logFile: string
}

function runningDocument({ url, faultsUrl, networks, keyFiles, logFile }: RunningServiceInfo) {
  const shown = networks.map(({ name, rpcUrls, assets }) => ({
    name,
    rpc: rpcUrls[0],
    assets: assets.map(({ symbol, decimals, key }) => ({ symbol, decimals, contract: assetCode(key) })),
  }))
  return { url, faultsUrl, keyFiles, networks: shown, log: logFile, pid: process.pid }
}

function runningText({ url, faultsUrl, networks, keyFiles, logFile }: RunningServiceInfo): string {
  const post = (path: string, body: object) =>
    `  ${withKey(keyFiles.write)} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}' ${url}${path}`
  return [
    '\nAPI keys, one per file:',
    `  write  ${keyFiles.write}`,
    `  read   ${keyFiles.read}`,
    '\nAssets:',
    ...networks.map(assetLine),
    '\nTry it in another terminal:',
    post('/v1/channels', channel),
    post('/v1/stable-wallets', { id: 'savings' }),
    `  ${withKey(keyFiles.read)} ${url}/v1/proxies/deposits`,
    '\nThen pay a test deposit, in this folder, and list the deposits again:',
    '  bin/depositd service pay --network mainnet --asset USDT --amount 12.50 --to shop',
    ...faultLines(faultsUrl),
    `\nThe log is ${logFile}. Ctrl-C stops everything; the next start continues with the same data.\n\n`,
  ].join('\n')
}

function withKey(path: string): string {
  return `curl -sS -H "X-API-KEY: $(cat ${shellWord(path)})"`
}

function faultLines(url: string | null): string[] {
  if (url === null) return []
  const change = `curl -sS -X PATCH -H 'Content-Type: application/json' -d '{"dropWebhookRate":0.5}' ${url}`
  return ['\nInject errors; the first command lists them:', `  curl -sS ${url}`, `  ${change}`]
}

const channel = {
  id: 'shop',
  forward_network: 'base',
  forward_asset: 'USDC',
  forward_recipient: '0x00000000000000000000000000000000000000ff',
}

function assetLine({ name, family, assets }: SandboxNetwork): string {
  const shown = assets.map(({ symbol, key }) => {
    const code = assetCode(key)
    return code === 'native' ? symbol : `${symbol} ${showAddress(family, code)}`
  })
  return `  ${name.padEnd(10)} ${shown.join('  ')}`
}

type DepositEventBody = { type: string; created_at: string; data: DepositRecord }

const askEveryMs = 1000
const atOnceMax = 100

/** Reads the database, because API calls would be counted and subject to faults. */
async function followEvents(
  db: ServiceDatabase,
  say: (line: string) => void,
  stopping: AbortSignal,
): Promise<void> {
  let last: bigint | null = null
  while (!stopping.aborted) {
    // If the read fails, the next one catches up.
    const newest: readonly EventRow[] = await readNewest(db).catch(() => [])
    for (const { sequence, body } of newest.toReversed()) {
      const reported = JSON.parse(body) as DepositEventBody
      if (last !== null && sequence > last && reported.type.startsWith('deposit.')) say(eventLine(reported))
    }
    last = newest[0]?.sequence ?? last ?? 0n
    await sleep(askEveryMs, undefined, { signal: stopping }).catch(() => undefined)
  }
}

function readNewest(db: ServiceDatabase): Promise<readonly EventRow[]> {
  return listEvents(db, { type: undefined, deposit: undefined }, { below: null, limit: atOnceMax })
}

/** `20:15:03  settled     12.5 USDT on mainnet for shop, 12.481257 USDC on base (dep_…)`. */
function eventLine({ type, created_at: at, data }: DepositEventBody): string {
  const { source, destination, reason } = data
  const paid = `${decimal(source.amount, source.decimals)} ${source.asset} on ${source.network}`
  const isDelivered = destination.time !== null && destination.amount !== null
  const place = destination.network === null ? '' : ` on ${destination.network}`
  const delivered = isDelivered
    ? `, ${decimal(destination.amount ?? '0', destination.decimals)} ${destination.asset}${place}`
    : ''
  const why = reason === null ? '' : `, ${reason}`
  const step = type.replace('deposit.', '').padEnd(10)
  return `${at.slice(11, 19)}  ${step}  ${paid} for ${data.owner.id}${delivered}${why} (${data.id})`
}

function decimal(units: string, decimals: number): string {
  return decimalText(formatAmount(BigInt(units), decimals))
}
