import { join } from 'node:path'
import { sql } from 'kysely'
import { pino } from 'pino'
import { mapBounded } from '../../src/chain/map-bounded.ts'
import { parseAmount } from '../../src/core/money.ts'
import { type SandboxNetwork, startChains } from '../../src/sandbox/chains.ts'
import { demoOwners } from '../../src/sandbox/demo.ts'
import { openEvmClient } from '../../src/sandbox/evm-faucet.ts'
import { type PostgresServer, startPostgres } from '../../src/sandbox/postgres.ts'
import { sandboxSecrets, startSandboxService } from '../../src/sandbox/sandbox-service.ts'
import type { SandboxSecrets } from '../../src/sandbox/service-files.ts'
import { openDatabase } from '../../src/store/database.ts'
import { until } from '../support/until.ts'

export type HistoryChoices = { deposits: number; owners: number; networks: readonly string[]; folder: string }

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

type DepositAddress = {
  owner: string
  network: string
  address: string
  forward: { network: string; asset: string; recipient: string }
}

const log = pino({ level: 'silent' })
const paymentsAtOnce = 8
const minedAtOnce = 100
const leftToNow = 5
export const yearSeconds = 365 * 86_400

export async function startHistoryGround(
  { deposits, owners, networks: names, folder }: HistoryChoices,
  stack: AsyncDisposableStack,
  say: (line: string) => void,
): Promise<HistoryGround> {
  const postgres = await startPostgres({ folder: join(folder, 'postgres'), durability: 'none', log })
  stack.defer(() => postgres.stop())
  for (const name of ['depositd', 'deposit_service']) await postgres.createDatabase(name)
  const startAt = new Date(Date.now() - yearSeconds * 1000)
  const chains = await startChains({
    folder: join(folder, 'chains'),
    names,
    blockMs: 200,
    slotMs: 100,
    startAt,
    log,
  })
  stack.defer(() => chains.stop())
  const { networks } = chains
  const secrets = sandboxSecrets(folder)
  const databaseUrl = postgres.url('deposit_service')
  const service = await startSandboxService({
    networks,
    secrets,
    databaseUrl,
    webhooks: [],
    faults: null,
    log,
  })
  stack.defer(() => service.stop())
  const addresses = await createOwners(service.url, secrets.writeKey, { owners, networks })
  const year = await beginYear(networks, deposits)
  const pay = payer(networks, addresses)
  const startedAt = performance.now()
  let count = 0
  const paid = await mapBounded([...Array(deposits).keys()], paymentsAtOnce, async (place) => {
    const one = await pay(place)
    if (++count % 500 === 0) say(`paid ${count} after ${seconds(startedAt)} s`)
    return one
  })
  const db = openDatabase({ url: databaseUrl, poolMax: 1, applicationName: 'history' })
  stack.defer(() => db.destroy())
  await until(
    'the service ended all deposits',
    async () => {
      const { rows } = await sql<{ count: number }>`
        select count(*)::int as count from service.deposit where status in ('settled', 'credited')`.execute(
        db,
      )
      return (rows[0]?.count ?? 0) >= deposits || null
    },
    3_600_000,
  )
  say(`${deposits} deposits paid and settled after ${seconds(startedAt)} s`)
  await year.end()
  return { networks, postgres, service: { url: service.url, secrets }, addresses, paid, pay }
}

function seconds(sinceMs: number): number {
  return Math.round((performance.now() - sinceMs) / 1000)
}

/** Blocks of EVM networks are as far apart that all of them make a year; those not used come at the end, empty. */
async function beginYear(networks: readonly SandboxNetwork[], deposits: number) {
  const blocks = deposits + 1000
  const interval = Math.floor(yearSeconds / blocks)
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
