import { sql } from 'kysely'
import { pino } from 'pino'
import { type Address, type AssetKey, toTxId } from '../../src/core/asset.ts'
import { type Deposits, openDeposits } from '../../src/service/deposits/deposits.ts'
import { openPrices } from '../../src/service/deposits/prices.ts'
import { type DepositRecord, recordWriter } from '../../src/service/deposits/record.ts'
import { recordScan } from '../../src/service/deposits/record-scan.ts'
import { createFaults, type Faults } from '../../src/service/faults/faults.ts'
import { startServer } from '../../src/service/http/server.ts'
import { openKeyring } from '../../src/service/keyring/keyring.ts'
import type { ScannedPayment } from '../../src/service/network/port.ts'
import { type NewOwner, openOwners } from '../../src/service/owners.ts'
import type { ServiceDatabase, ServiceOwnerRow, ServiceTables } from '../../src/service/tables.ts'
import { openOutbox } from '../../src/service/webhooks/outbox.ts'
import { openDatabase } from '../../src/store/database.ts'
import { serviceDatabase } from '../support/postgres.ts'
import { call, readKey, seed, serviceSettings, unreachableNetworks } from './fixtures.ts'

type Page = { data: DepositRecord[]; next_cursor: string | null }

/** The service's database and API without its chains: payments to the StableWallet `savings` are handed in. */
export type Book = {
  url: string
  databaseUrl: string
  db: ServiceDatabase
  deposits: Deposits
  faults: Faults
  /** Another owner than `savings`. */
  keep(wanted: NewOwner): Promise<ServiceOwnerRow>
  /** The payment of that number, in the block of that number. */
  payment(number: number, final: boolean): ScannedPayment
  record(payments: readonly ScannedPayment[], finalHeight: bigint): Promise<void>
  list(query: string): Promise<Page>
  close(): Promise<void>
}

export async function openBook(faults: Faults = createFaults({ seed: 'test' })): Promise<Book> {
  const database = await serviceDatabase()
  const db = openDatabase<ServiceTables>({ url: database.url, poolMax: 10, applicationName: 'test' })
  const settings = serviceSettings(database.url, unreachableNetworks)
  const keyring = openKeyring(seed)
  const owners = openOwners(db, keyring)
  const deposits = openDeposits(openOutbox(recordWriter(unreachableNetworks), faults))
  const prices = openPrices(settings.quotes, Date.now)
  const parts = { settings, db, owners, deposits, prices, faults }
  const server = await startServer({ ...parts, log: pino({ level: 'silent' }) })
  const rule = { forward_network: null, forward_asset: null, forward_recipient: null }
  const keep = async (wanted: NewOwner): Promise<ServiceOwnerRow> => {
    const kept = await owners.findOrCreate(wanted)
    if (kept.kind !== 'found') throw new Error('the recipient is an address of the service')
    return kept.owner
  }
  const owner = await keep({ kind: 'stable_wallet', id: 'savings', ...rule })
  await sql`
    insert into service.stream (network, liquidity_address, final_height, seen_height)
    values ('mainnet', 'x', 0, 0)`.execute(db)
  return {
    url: server.url,
    databaseUrl: database.url,
    db,
    deposits,
    faults,
    keep,
    payment: (number, final) => ({ ...paymentOf(number, owner.evm_address), final }),
    record: (payments, finalHeight) => record({ db, deposits }, payments, finalHeight),
    list: async (query) => (await call(`${server.url}/v1/proxies/deposits?${query}`, readKey)).body as Page,
    close: async () => {
      await server.stop()
      await db.destroy()
      await database.drop()
    },
  }
}

async function record(
  { db, deposits }: Pick<Book, 'db' | 'deposits'>,
  payments: readonly ScannedPayment[],
  finalHeight: bigint,
): Promise<void> {
  const mainnet = unreachableNetworks.find(({ name }) => name === 'mainnet')
  if (mainnet === undefined) throw new Error('the fixtures have a mainnet')
  const position = { finalHeight, finalHash: null, seenHeight: finalHeight, seenHash: null }
  const recorder = { db, deposits, networks: unreachableNetworks }
  await recordScan(recorder, mainnet, { payments, position, more: false })
}

function paymentOf(number: number, address: Address): Omit<ScannedPayment, 'final'> {
  return {
    transaction: toTxId(`0x${number.toString(16).padStart(64, '0')}`),
    index: 'native',
    asset: 'mainnet/native' as AssetKey,
    sender: '0x1111111111111111111111111111111111111111' as Address,
    address,
    amount: 10n ** 18n + BigInt(number),
    block: BigInt(number),
    blockHash: '0xaa',
    blockAt: new Date('2026-11-20T12:00:00Z'),
  }
}
