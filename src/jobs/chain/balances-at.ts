import type { Kysely } from 'kysely'
import type { ChainReader, OnDemandReader } from '../../chain/types.ts'
import type { Address, AssetKey, NetworkSettings } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import { balancesBefore } from '../../store/ledger/openings.ts'
import type { Tables } from '../../store/tables.ts'
import { readPast, unlessRemote } from './proof-run.ts'
import { positionOf } from './scan-position.ts'

export type PastReader = {
  db: Kysely<Tables>
  settings: NetworkSettings
  /** Null without nodes. */
  reader: (Pick<ChainReader, 'network'> & Pick<OnDemandReader, 'heightAt' | 'readBalances'>) | null
}

/** Of one asset, by address; `basis` says what they were read from, or why they were not read. */
export type BalancesAt = { asset: AssetKey; amounts: ReadonlyMap<Address, bigint> | null; basis: string }

/** Read at once; few enough for one request to a contract that reads balances. */
const addressesAtOnce = 200

/**
 * At the last block up to a time, for every asset of the network. Without nodes that have balances of that block, from
 * later proved balances.
 * @throws Fault `usage_bad` if later blocks up to that time may follow
 */
export async function balancesAt(
  past: PastReader,
  at: Date,
  addresses: readonly Address[],
): Promise<BalancesAt[]> {
  const { settings } = past
  if (addresses.length === 0)
    return settings.assets.map(({ key }) => ({ asset: key, amounts: new Map(), basis: 'no deposit address' }))
  const height = await heightOf(past, at)
  const balances: BalancesAt[] = []
  for (const { key: asset } of settings.assets)
    balances.push(
      typeof height === 'string'
        ? { asset, amounts: null, basis: height }
        : await balancesOf(past, { asset, addresses, height }),
    )
  return balances
}

/** The reason if it cannot be found. */
async function heightOf({ db, reader, settings: { name } }: PastReader, at: Date): Promise<bigint | string> {
  if (reader === null) return 'the settings name no node of the network'
  const position = await positionOf(db, name)
  if (position === null) return 'the network was not read yet'
  const height = await unlessRemote(reader.heightAt(at))
  if (typeof height === 'string') return height
  if (height === null) return 'the nodes have no block from then'
  if (height < position.cursor.final.height) return height
  throw new Fault('usage_bad', {
    problem: `${name} is not read as final up to ${at.toISOString()} yet`,
    fix: 'wait until the daemon has read it, or give an earlier time',
  })
}

type AssetHeight = { asset: AssetKey; addresses: readonly Address[]; height: bigint }

async function balancesOf(past: PastReader, { asset, addresses, height }: AssetHeight): Promise<BalancesAt> {
  const read = await readAll(past, { asset, addresses, height })
  if (typeof read !== 'string')
    return { asset, amounts: read, basis: `block ${height}, ${addresses.length} addresses` }
  const known = await balancesBefore(past.db, { network: past.settings.name, asset, height })
  const lacking = addresses.filter((address) => !known.has(address)).length
  if (lacking > 0)
    return {
      asset,
      amounts: null,
      basis: `${read}; ${lacking} of ${addresses.length} addresses are not proved`,
    }
  const amounts = new Map(addresses.map((address) => [address, known.get(address) ?? 0n]))
  const basis = `block ${height}, ${addresses.length} addresses, from later balances less what moved since`
  return { asset, amounts, basis }
}

/** The reason if a balance cannot be read. */
async function readAll(
  { reader, settings }: PastReader,
  { asset, addresses, height }: AssetHeight,
): Promise<Map<Address, bigint> | string> {
  if (reader === null) return 'the settings name no node of the network'
  const amounts = new Map<Address, bigint>()
  for (let first = 0; first < addresses.length; first += addressesAtOnce) {
    const some = addresses.slice(first, first + addressesAtOnce)
    const pairs = some.map((address) => ({ address, asset }))
    const past = await readPast({ reader, settings }, height, pairs)
    if (past.kind === 'gone') return past.problem
    for (const [place, address] of some.entries()) amounts.set(address, past.amounts[place] ?? 0n)
  }
  return amounts
}
