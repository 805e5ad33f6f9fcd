import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { stringify } from 'yaml'
import { type NetworkName, parseAddress } from '../../src/core/asset.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import type { Database } from '../../src/store/database.ts'
import { saveOwner } from '../../src/store/owners.ts'
import type { Tables } from '../../src/store/tables.ts'
import { patientPolicy } from './patient-policy.ts'
import { type RawService, startRawService } from './raw-service.ts'
import { makeSecret } from './sign-webhook.ts'

/** A network as the daemon is told of it. */
export type Reported = {
  name: string
  /** Null on Solana. */
  chainId: number | null
  /** In order of preference. */
  urls: readonly string[]
  token: string
  /** More tokens, each with 18 decimals. */
  others?: readonly { symbol: string; contract: string }[]
  /** Where it is paid to; `depositor` without it. */
  address?: string
  /** More of its entry in the settings file, as `{ finality: { tag: 'safe' } }`. */
  more?: object
}

/** A deposit as the service would list it. */
export type Credited = { network: string; tx: string; index: string; contract: string | null; amount: bigint }

/** The one address that is paid to, on every EVM network. */
export const depositor = '0x00000000000000000000000000000000000a11ce'
const wallet = 'savings'

const familyOf = (chainId: number | null) => (chainId === null ? 'solana' : 'evm')

/** Nothing is late but what the service does not tell of, so that it is booked at once, in suspense. */
const policy = { ...patientPolicy, reportWithin: '1s' }
const everySecond = '* * * * * *'
const schedule = {
  scan: everySecond,
  poll: everySecond,
  sweep: everySecond,
  backfill: everySecond,
  // That the service is read again shows that work goes on, also where nothing is under way.
  pollQuiet: '2s',
}

/** The owner of the one address on each of these networks. */
export function saveDepositor(db: Database<Tables>, networks: readonly Reported[]): Promise<unknown> {
  return saveOwner(db, {
    owner: { kind: 'stable_wallet', id: wallet },
    deposits: networks.map(({ name, chainId, address = depositor }) => ({
      network: name as NetworkName,
      address: parseAddress(familyOf(chainId), address),
    })),
    forward: null,
  })
}

/** What a network is read up to as final; null before the first scan. */
export async function cursorOf(db: Database<Tables>, network: string) {
  const { rows } = await sql<{ height: string; hash: string }>`
    select cursor #>> '{final,height}' as height, cursor #>> '{final,hash}' as hash from stream
    where name = ${`scan/${network}`} and cursor is not null`.execute(db)
  const [row] = rows
  return row === undefined ? null : { height: BigInt(row.height), hash: row.hash }
}

/** Writes the settings of a daemon over these networks; its environment. */
export async function writeReportedSettings(
  folder: string,
  networks: readonly Reported[],
  servers: Record<string, string>,
): Promise<Record<string, string>> {
  const path = join(folder, 'settings.yaml')
  const entries = networks.map(({ name, chainId, token, others = [], more }) => ({
    name,
    family: familyOf(chainId),
    chainId,
    ...more,
    assets: [
      { symbol: 'USDC', contract: token, decimals: chainId === null ? 6 : 18 },
      chainId === null
        ? { symbol: 'SOL', contract: 'native', decimals: 9 }
        : { symbol: 'ETH', contract: 'native', decimals: 18 },
      ...others.map((one) => ({ ...one, decimals: 18 })),
    ],
  }))
  writeFileSync(path, stringify({ networks: entries, policy, schedule }))
  const urls = networks.map(({ name, urls: some }) => [`RPC_${name.toUpperCase()}`, some.join(',')])
  return {
    ...servers,
    SERVICE_API_KEY: 'key',
    WEBHOOK_SECRETS: makeSecret(),
    ...Object.fromEntries(urls),
    HTTP_HOST: loopback,
    HTTP_PORT: String(await freePort()),
    OPS_HOST: loopback,
    OPS_PORT: String(await freePort()),
    LOG_LEVEL: 'silent',
    DEPOSITD_CONFIG: path,
  }
}

/** A service of one page, which says whatever is credited by now. */
export function startCreditingService(credited: readonly Credited[]): Promise<RawService> {
  return startRawService(({ url = '' }, response) => {
    const records = credited.map(recordOf)
    const id = /deposits\/([^?]+)/.exec(url)?.[1]
    const one = records.find((record) => record.id === id)
    const body = id === undefined ? { data: records, next_cursor: null } : one
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? { code: 'not_found' }))
  })
}

const listedAt = new Date().toISOString()

function recordOf({ network, tx, index, contract, amount }: Credited, place: number) {
  return {
    id: `dep_${place + 1}`,
    owner: { type: 'stable_wallet', id: wallet },
    status: 'credited',
    source: { network, address: depositor, contract, amount: amount.toString(), transaction: tx, index },
    destination: { network: null, address: wallet, contract: null, amount: '7', transaction: null },
    fee: { amount: '0' },
    created_at: listedAt,
    updated_at: listedAt,
  }
}
