import { setTimeout as sleep } from 'node:timers/promises'
import { assetCode } from '../../core/asset.ts'
import { formatAmount } from '../../core/money.ts'
import { decimalText } from '../../presentation/mismatch-sentence.ts'
import type { SandboxNetwork } from '../../sandbox/local-networks.ts'
import type { ServiceFiles } from '../../sandbox/service-files.ts'
import type { DepositRecord } from '../../service/deposits/record.ts'
import { showAddress } from '../../service/keyring/keyring.ts'
import type { ServiceDatabase } from '../../service/tables.ts'
import { type EventRow, listEvents } from '../../service/webhooks/events.ts'
import { shellWord } from '../print.ts'

export type RunningServiceInfo = {
  url: string
  /** Null if no faults are allowed. */
  faultsUrl: string | null
  networks: readonly SandboxNetwork[]
  keyFiles: ServiceFiles
  logFile: string
}

export function runningDocument({ url, faultsUrl, networks, keyFiles, logFile }: RunningServiceInfo) {
  const shown = networks.map(({ name, rpcUrls, assets }) => ({
    name,
    rpc: rpcUrls[0],
    assets: assets.map(({ symbol, decimals, key }) => ({ symbol, decimals, contract: assetCode(key) })),
  }))
  return { url, faultsUrl, keyFiles, networks: shown, log: logFile, pid: process.pid }
}

export function runningText({ url, faultsUrl, networks, keyFiles, logFile }: RunningServiceInfo): string {
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
export async function followEvents(
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
