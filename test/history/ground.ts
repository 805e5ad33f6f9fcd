import { join } from 'node:path'
import { sql } from 'kysely'
import { pino } from 'pino'
import { mapBounded } from '../../src/chain/map-bounded.ts'
import { parseAddress } from '../../src/core/asset.ts'
import { parseAmount } from '../../src/core/money.ts'
import { type SandboxNetwork, startChains } from '../../src/sandbox/chains.ts'
import { demoOwners } from '../../src/sandbox/demo.ts'
import { openEvmClient } from '../../src/sandbox/evm-faucet.ts'
import { tokenDecimals } from '../../src/sandbox/faucet.ts'
import { type PostgresServer, startPostgres } from '../../src/sandbox/postgres.ts'
import { sandboxSecrets, startSandboxService } from '../../src/sandbox/sandbox-service.ts'
import type { SandboxSecrets } from '../../src/sandbox/service-files.ts'
import { liquidityAddresses } from '../../src/service/keyring/keyring.ts'
import type { ServiceDatabase, ServiceTables } from '../../src/service/tables.ts'
import { openDatabase } from '../../src/store/database.ts'
import { until } from '../support/until.ts'
import { blocksOfYear, recordYear } from './record-year.ts'

/**
 * `isRecorded`: the service did not make the deposits, but has their records, and the chains, which are EVM chains, have
 * their transfers.
 */
export type HistoryChoices = {
  deposits: number
  owners: number
  networks: readonly string[]
  isRecorded: boolean
  /** Of the service, once the year is over; null for none. */
  webhookUrl: string | null
  folder: string
}

/** A company with a year of deposits, all of which came to their end. */
export type HistoryGround = {
  networks: readonly SandboxNetwork[]
  postgres: PostgresServer
  service: { url: string; secrets: SandboxSecrets }
  addresses: readonly DepositAddress[]
  /** The transactions of the payments, oldest first. */
  paid: readonly { tx: string; network: string }[]
  pay: (place: number) => Promise<{ tx: string; network: string }>
}

export type DepositAddress = {
  owner: string
  network: string
  address: string
  forward: { network: string; asset: string; recipient: string }
}

const log = pino({ level: 'silent' })
const paymentsAtOnce = 8
const minedAtOnce = 100
const leftToNow = 5
const yearSeconds = 365 * 86_400

export async function startHistoryGround(
  choices: HistoryChoices,
  stack: AsyncDisposableStack,
  say: (line: string) => void,
): Promise<HistoryGround> {
  const { deposits, owners, networks: names, folder, webhookUrl } = choices
  const postgres = await startPostgres({ folder: join(folder, 'postgres'), durability: 'none', log })
  stack.defer(() => postgres.stop())
  for (const name of ['depositd', 'deposit_service']) await postgres.createDatabase(name)
  const startAt = new Date(Date.now() - yearSeconds * 1000)
  const spans = { blockMs: 200, slotMs: 100, startAt }
  const chains = await startChains({ folder: join(folder, 'chains'), names, ...spans, log })
  stack.defer(() => chains.stop())
  const { networks } = chains
  const secrets = sandboxSecrets(folder)
  const databaseUrl = postgres.url('deposit_service')
  const parts = { networks, secrets, databaseUrl, faults: null, log }
  let service = await startSandboxService({ ...parts, webhooks: [] })
  stack.defer(() => service.stop())
  const addresses = await createOwners(service.url, secrets.writeKey, { owners, networks })
  const db = openDatabase<ServiceTables>({ url: databaseUrl, poolMax: 1, applicationName: 'history' })
  stack.defer(() => db.destroy())
  const year = await beginYear(networks, choices.isRecorded ? blocksOfYear(deposits) : deposits)
  const pay = payer(networks, addresses)
  const startedAt = performance.now()
  if (choices.isRecorded) await service.stop()
  const paid = choices.isRecorded
    ? await recordAll({ db, networks, addresses, secrets, deposits, say })
    : await payAll({ db, pay, deposits, say })
  say(`${deposits} deposits paid and settled after ${seconds(startedAt)} s`)
  await year.end()
  if (!choices.isRecorded) await service.stop()
  const webhooks = webhookUrl === null ? [] : [{ url: webhookUrl, secret: secrets.webhookSecret }]
  service = await startSandboxService({ ...parts, webhooks })
  return { networks, postgres, service: { url: service.url, secrets }, addresses, paid, pay }
}

type Payment = { tx: string; network: string }

type AllRequest = { db: ServiceDatabase; deposits: number; say: (line: string) => void }

async function payAll({
  db,
  pay,
  deposits,
  say,
}: AllRequest & Pick<HistoryGround, 'pay'>): Promise<Payment[]> {
  const startedAt = performance.now()
  let count = 0
  const paid = await mapBounded([...Array(deposits).keys()], paymentsAtOnce, async (place) => {
    const one = await pay(place)
    if (++count % 500 === 0) say(`paid ${count} after ${seconds(startedAt)} s`)
    return one
  })
  const areEnded = async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from service.deposit where status in ('settled', 'credited')`.execute(db)
    return (rows[0]?.count ?? 0) >= deposits || null
  }
  await until('the service ended all deposits', areEnded, 3_600_000)
  return paid
}

/** The service starts to read after them. */
async function recordAll({
  networks,
  secrets,
  deposits,
  ...request
}: AllRequest & Pick<HistoryGround, 'networks' | 'addresses'> & { secrets: SandboxSecrets }): Promise<
  Payment[]
> {
  const { evm: liquidity } = liquidityAddresses(secrets)
  const [network, ...others] = networks
  if (network?.family !== 'evm' || others.length > 0)
    throw new Error('deposits can only be recorded on one network, an EVM network')
  for (const { key, symbol } of network.assets)
    if (symbol !== 'ETH')
      await network.fund(parseAddress('evm', liquidity), key, parseAmount('100000000', tokenDecimals))
  const paid = await recordYear({ ...request, network, liquidity, deposits })
  await request.db.deleteFrom('service.stream').execute()
  return paid
}

function seconds(sinceMs: number): number {
  return Math.round((performance.now() - sinceMs) / 1000)
}

/** Blocks of EVM networks are as far apart that all of them make a year; those not used come at the end, empty. */
async function beginYear(networks: readonly SandboxNetwork[], blocks: number) {
  const interval = Math.floor(yearSeconds / (blocks + 1000))
  const clients = networks
    .filter(({ family }) => family === 'evm')
    .map(({ rpcUrls, chainId }) => openEvmClient(rpcUrls[0] ?? '', chainId ?? 0))
  for (const client of clients) await client.setBlockTimestampInterval({ interval })
  return {
    async end() {
      for (const client of clients) {
        const untilNow = async () => {
          const { timestamp } = await client.getBlock()
          return Math.floor((Date.now() / 1000 - Number(timestamp)) / interval)
        }
        if ((await untilNow()) < 0) throw new Error('the payments took more blocks than a year has here')
        // The chain also mines by itself now and then.
        for (let left = await untilNow(); left > leftToNow; left = await untilNow())
          await client.mine({ blocks: Math.min(left - leftToNow, minedAtOnce) })
        await client.removeBlockTimestampInterval()
        await client.setNextBlockTimestamp({ timestamp: BigInt(Math.floor(Date.now() / 1000)) })
        await client.mine({ blocks: 3 })
      }
    },
  }
}

async function createOwners(
  url: string,
  key: string,
  { owners, networks }: { owners: number; networks: readonly SandboxNetwork[] },
): Promise<DepositAddress[]> {
  const { channels } = await demoOwners()
  const usable = channels.filter(({ forwardNetwork }) => networks.some(({ name }) => name === forwardNetwork))
  const addresses: DepositAddress[] = []
  for (let place = 0; place < owners; place++) {
    const like = usable[place % usable.length]
    if (like === undefined) throw new Error('no network to forward to')
    const { forwardNetwork: network, forwardAsset: asset, forwardRecipient: recipient } = like
    const owner = `${like.id}-${place}`
    const answer = await fetch(`${url}/v1/channels`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({
        id: owner,
        forward_network: network,
        forward_asset: asset,
        forward_recipient: recipient,
      }),
    })
    const made = (await answer.json()) as { addresses: { network: string; address: string }[] }
    addresses.push(
      ...made.addresses.map((one) => ({ owner, ...one, forward: { network, asset, recipient } })),
    )
  }
  return addresses
}

/** Tokens and coin, on one network after another, to one owner after another. */
function payer(networks: readonly SandboxNetwork[], addresses: readonly DepositAddress[]) {
  return async (place: number) => {
    const network = networks[place % networks.length]
    const asset = network?.assets[Math.floor(place / networks.length) % network.assets.length]
    const here = addresses.filter((one) => one.network === network?.name)
    const to = here[Math.floor(place / networks.length) % here.length]?.address
    if (!network || !asset || !to) throw new Error('nothing to pay')
    const amount = parseAmount('0.02', asset.decimals) + BigInt(place)
    const tx: string = await network.pay({ asset: asset.key, to: to as never, amount: amount as never })
    return { tx, network: network.name as string }
  }
}
