import { pino } from 'pino'
import { getAddress, type Hex, parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { convertDeposits } from '../../../src/service/deposits/convert-deposits.ts'
import { recordScan } from '../../../src/service/deposits/record-scan.ts'
import { createFaults } from '../../../src/service/faults/faults.ts'
import { openKeyring } from '../../../src/service/keyring/keyring.ts'
import { openEvm } from '../../../src/service/network/evm.ts'
import type { NetworkClient } from '../../../src/service/network/port.ts'
import { openOwners } from '../../../src/service/owners.ts'
import { createRetryBackoff } from '../../../src/service/running/loop.ts'
import { openStream, readPosition } from '../../../src/service/streams.ts'
import { dueSweeps } from '../../../src/service/transfers/due-sweeps.ts'
import type { DueTransfer } from '../../../src/service/transfers/due-transfer.ts'
import { saveOutcomes } from '../../../src/service/transfers/settle-transfers.ts'
import { dueForwards, signTransfers } from '../../../src/service/transfers/work-network.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { type EvmWorld, lower, openEvmWorld, recipient } from '../evm-world.ts'
import { seed } from '../fixtures.ts'

const stack = new AsyncDisposableStack()
const log = pino({ level: 'silent' })
const keyring = openKeyring(seed)
const faults = createFaults(null)
let world: EvmWorld
let network: NetworkClient
let address: Hex

/** Three deposits that are final and have their quote; nobody pays them but the test. */
beforeAll(async () => {
  world = await openEvmWorld(stack)
  network = openNetwork()
  const { db, deposits } = world
  await network.check()
  await openStream(db, keyring, network)
  const kept = await openOwners(db, keyring).findOrCreate({
    kind: 'channel',
    id: 'shop',
    forward_network: network.settings.name,
    forward_asset: 'USDC',
    forward_recipient: lower(recipient),
  })
  if (kept.kind !== 'found') throw new Error('the recipient is not ours')
  const { evm_address: watchedAddress } = kept.owner
  address = getAddress(watchedAddress)
  for (const amount of [1000n, 2000n, 3000n]) await world.token.send(address, amount)
  await world.anvil.client.setBalance({ address, value: parseEther('1') })
  await world.anvil.mine(5)
  const watched = () => Promise.resolve(new Set([watchedAddress]))
  for (let turn = 0, more = true; more && turn < 50; turn++) {
    const scan = await network.scan(await readPosition(db, network), watched)
    await recordScan({ db, deposits, networks: [network.settings] }, network.settings, scan)
    more = scan.more
  }
  const prices = { current: () => ({}), refresh: () => Promise.resolve() }
  const terms = { feeBasisPoints: 0, spreadBasisPoints: 0 }
  expect(await convertDeposits({ db, deposits, terms, prices, faults }, network.settings.name)).toBe(3)
})

afterAll(() => stack.disposeAsync())

/** One that knows nothing of what others have signed, as that of another process. */
function openNetwork(): NetworkClient {
  const [settings] = world.settings().networks
  if (settings === undefined) throw new Error('there is a network')
  return openEvm(settings, keyring)
}

function looking() {
  return { db: world.db, network, keyring, faults, backoff: createRetryBackoff(Date.now), log }
}

/** How many each of them signed of the same. */
function signByTwenty(wanted: readonly DueTransfer[]): Promise<number[]> {
  const { db, deposits } = world
  const sign = (): Promise<number> => {
    const backoff = createRetryBackoff(Date.now)
    return signTransfers({ db, deposits, network: openNetwork(), backoff, log }, wanted)
  }
  return Promise.all(Array.from({ length: 20 }, sign))
}

test('of twenty who sign the same forwards at once, one signs each, with a nonce of its own', async () => {
  const wanted = await dueForwards(looking())
  expect(wanted).toHaveLength(3)
  const signed = await signByTwenty(wanted)
  expect(signed.toSorted((left, right) => right - left).slice(0, 2)).toEqual([3, 0])
  const rows = await world.db
    .selectFrom('service.transfer')
    .select(['nonce', 'attempt'])
    .where('kind', '=', 'forward')
    .orderBy('nonce')
    .execute()
  expect(rows.map(({ attempt }) => attempt)).toEqual([1, 1, 1])
  const [first = 0n] = rows.map(({ nonce }) => nonce ?? 0n)
  expect(rows.map(({ nonce }) => nonce)).toEqual([first, first + 1n, first + 2n])
  expect(await dueForwards(looking())).toEqual([])
})

test('of twenty who sweep the same address at once, one does, and of all that lies there', async () => {
  const wanted = await dueSweeps(looking(), { minimums: {} })
  expect(wanted).toMatchObject([{ kind: 'sweep', order: { amount: 6000n } }])
  const signed = await signByTwenty(wanted)
  expect(signed.toSorted((left, right) => right - left).slice(0, 2)).toEqual([1, 0])
  expect(await dueSweeps(looking(), { minimums: {} })).toEqual([])
  await world.anvil.mine()
  expect((await world.balance(address)).tokens).toBe(0n)
})

test('after a revert the next attempt waits, and after an expiry it does not', async () => {
  const { db, deposits } = world
  const transfers = await db
    .selectFrom('service.transfer')
    .selectAll()
    .where('kind', '=', 'forward')
    .orderBy('nonce')
    .execute()
  const [reverted, expired] = transfers
  if (reverted === undefined || expired === undefined) throw new Error('three were signed')
  const backoff = createRetryBackoff(Date.now)
  await inTransaction(db, (tx) =>
    saveOutcomes({ tx, deposits, backoff, network }, [
      { transfer: reverted, outcome: { kind: 'reverted' }, transaction: 'a' },
      { transfer: expired, outcome: { kind: 'expired' }, transaction: 'b' },
    ]),
  )
  expect(backoff.waiting()).toEqual([reverted.deposit_id])
  const due = await dueForwards({ ...looking(), backoff })
  expect(due.map(({ key }) => key)).toEqual([expired.deposit_id])
  const later = await dueForwards(looking())
  expect(new Set(later.map(({ key }) => key))).toEqual(new Set([reverted.deposit_id, expired.deposit_id]))
})
