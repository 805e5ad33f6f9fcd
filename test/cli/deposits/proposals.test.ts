import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommand } from '../../support/command.ts'
import { delivery, payment, txId, usdcOnArbitrum } from '../../support/evidence.ts'
import { openProposing, type Proposing, undelivered, unkeyed } from '../../support/proposing.ts'

let books: Proposing

beforeAll(async () => {
  books = await openProposing()
})
afterAll(() => books[Symbol.asyncDispose]())

const depositd = (line: string) => runCommand(line, { DATABASE_URL: books.url })

test('deposits proposals tells of nothing where no proposals', async () => {
  expect(await depositd('deposits proposals')).toMatchObject({ status: 0, out: 'no proposals\n' })
  const { out } = await depositd('deposits proposals --json')
  expect(JSON.parse(out)).toEqual({ items: [], next: null })
})

test('deposits proposals lists the surest first, and says what is not fulfilled', async () => {
  const replaced = { deposit: { tx: txId('replaced') }, serviceId: 'dep_0' as never }
  await books.hold(unkeyed(replaced), payment({ tx: txId('speedier') }))
  await books.hold(undelivered(), payment(), delivery())
  await books.run()
  const { status, out } = await depositd('deposits proposals')
  expect(status).toBe(0)
  expect(out.replaceAll(/ {2,}/g, '  ')).toMatchInlineSnapshot(`
    "DEPOSIT  SERVICE ID  AS  TRANSFER  AMOUNT  ASSET  SCORE  REASONS
      3  dep_1  delivery  arbitrum/0x00000000000000000000000000000000000000000000000000666f7277617264/0  99.900000  USDC on arbitrum  100  recipient, asset, amount, order, sender, time, transaction
      2  dep_0  payment  base/0x0000000000000000000000000000000000000000000000007370656564696572/0  100.000000  USDC on base  90  address, asset, amount, time, not transaction (the service names 0x0000000000000000000000000000000000000000000000007265706c61636564)
    "
  `)
  expect((await depositd('deposits proposals --limit 1')).out.split('\n')).toHaveLength(4)
  const { items } = JSON.parse((await depositd('deposits proposals --json')).out)
  const [first] = items
  const { next } = JSON.parse((await depositd('deposits proposals --limit 1 --json')).out)
  const rest = JSON.parse((await depositd(`deposits proposals --after ${next} --json`)).out)
  expect(rest).toEqual({ items: items.slice(1), next: null })
  expect(first).toMatchObject({
    service_id: 'dep_1',
    role: 'recipient',
    amount: '99.900000',
    amount_base: '99900000',
    asset_symbol: 'USDC',
    asset: usdcOnArbitrum,
    policy: 'policy',
  })
  expect(first.reasons).toContainEqual({
    rule: 'recipient',
    weight: 20,
    fulfilled: true,
    compares: 'arbitrum/0x00000000000000000000000000000000000000ff',
  })
})
