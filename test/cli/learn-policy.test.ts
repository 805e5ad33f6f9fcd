import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import { usdcOnArbitrum, usdcOnBase, usdtOnBase } from '../support/evidence.ts'
import { policyWorld, settled } from '../support/policy-world.ts'

let world: Awaited<ReturnType<typeof policyWorld>>
beforeEach(async () => {
  world = await policyWorld()
})
afterEach(() => world[Symbol.asyncDispose]())

/** So many settled deposits of 100. */
function many(count: number, stated: (place: number) => bigint, { name = 'dep', asset = usdcOnBase } = {}) {
  return Array.from({ length: count }, (_one, place) => settled(`${name}_${place}`, stated(place), { asset }))
}

test('what was kept of enough deposits becomes a band that can be pasted', async () => {
  await world.receive(
    ...many(39, (place) => 99_900_000n + BigInt(place) * 100n),
    settled('short', 50_000_000n, { lack: 1n }),
  )
  const { status, out } = await world.depositd('policy learn')
  expect({ status, out }).toEqual({
    status: 0,
    out: `\
policy:
  routes:
    # USDC on base to USDC on arbitrum, 39 settled: fee 9 to 10 bps. The next one lies outside 2 times in 40.
    - match: { asset: { in: '${usdcOnBase}', out: '${usdcOnArbitrum}' } }
      fee: { model: band, lowBps: 9, highBps: 10, sample: 39 }
`,
  })
  const pasted = await world.depositd(`reconcile --policy ${world.write('new.yaml', out)} --dry-run`)
  expect(pasted.out).toMatch(/short +settled +settlement_short -> fee_out_of_band, settlement_short +-$/m)
  expect(pasted.out).toContain('\n1 of 40 deposits would change; nothing was written\n')
})

test('too few deposits, and assets that are not worth the same, give no band; it is said why', async () => {
  await world.receive(...many(38, () => 99_900_000n))
  expect((await world.depositd('policy learn')).out).toBe(`\
policy:
  routes: []
    # USDC on base to USDC on arbitrum, 38 settled: fee 10 to 10 bps.
    # No band: too few deposits: after 38, the next one lies outside 2 times in 39.
`)
  await world.receive(...many(40, () => 101_000_000n, { name: 'usdt', asset: usdtOnBase }))
  const learned = JSON.parse((await world.depositd('policy learn --json')).out)
  expect(learned.items).toMatchObject([
    {
      asset_label: 'USDT on base',
      sample: 40,
      low_bps: null,
      high_bps: null,
      rate: { low: '1.01', high: '1.01', paid: 'USDT', delivered: 'USDC' },
      refused: 'USDT and USDC are different assets, so the rate includes the price',
    },
    { asset_label: 'USDC on base', sample: 38, low_bps: 10, high_bps: 10 },
  ])
  expect((await world.depositd('policy learn')).out).toContain(
    '# USDT on base to USDC on arbitrum, 40 settled: 1.01 to 1.01 USDC delivered for 1 USDT.\n',
  )
  expect(await world.depositd('policy learn --json --limit 1')).toMatchObject({ status: 0 })
})

test('of several services, each has its own bands', async () => {
  await world.receive(...many(40, () => 99_900_000n), ...many(39, () => 99_800_000n, { name: 'other' }))
  await sql`update deposit set service = 'acme' where service_id like 'other%'`.execute(world.books.db)
  const { out } = await world.depositd('policy learn')
  expect((parse(out) as { policy: unknown }).policy).toMatchObject({
    routes: [
      { match: { service: 'default' }, fee: { lowBps: 10, highBps: 10, sample: 40 } },
      { match: { service: 'acme' }, fee: { lowBps: 20, highBps: 20, sample: 39 } },
    ],
  })
})

test('where nothing is settled yet, nothing can be learned', async () => {
  const { out } = await world.depositd('policy learn')
  expect(out).toBe('# no settled deposits yet\n')
  expect(parse(out)).toBeNull()
})
