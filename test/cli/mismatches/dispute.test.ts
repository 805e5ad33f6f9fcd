import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceId } from '../../../src/core/evidence.ts'
import type { Amount } from '../../../src/core/money.ts'
import { at, claim, delivery, payment, txId } from '../../support/evidence.ts'
import { type EvidenceWorld, openEvidenceWorld } from '../../support/evidence-world.ts'
import { addPeople, runDecided } from '../../support/people.ts'

let world: EvidenceWorld

const short = (number: number, delivered: bigint, minutes: number) => {
  const [pay, forward] = [txId(`pay ${number}`), txId(`forward ${number}`)]
  const paidAt = { blockAt: at(minutes), receivedAt: at(minutes + 1) }
  const of = { deposit: { tx: pay }, settlement: { tx: forward }, receivedAt: at(minutes + 6) }
  return {
    claim: claim({ serviceId: `dep_${number}` as ServiceId, ...of }),
    transfers: [
      payment({ tx: pay, ...paidAt }),
      delivery({ tx: forward, amount: delivered as Amount, ...paidAt }),
    ],
  }
}
const day = 24 * 60

/** Three short deliveries of two days, one that is whole, and one that a person resolved. */
beforeAll(async () => {
  world = await openEvidenceWorld()
  const deposits = [
    short(1, 79_900_000n, 0),
    short(2, 99_899_999n, 10),
    short(3, 99_900_000n, 20),
    short(4, 50_000_000n, day),
    short(5, 40_000_000n, 30),
  ]
  for (const one of deposits) {
    await world.list(one.claim)
    await world.see(...one.transfers)
  }
  await world.books.settle()
  const { rows } = await sql<{ id: bigint }>`
    select id from mismatch where kind = 'settlement_short' and loss_amount = 59900000`.execute(
    world.books.db,
  )
  await addPeople(world.books.owner)
  await runDecided(`mismatches resolve ${rows[0]?.id} --reason agreed`, world.environment)
})
afterAll(() => world[Symbol.asyncDispose]())

const dispute = (folder: string, options: string) =>
  world.run(`mismatches dispute --out ${join(world.folder, folder)} ${options}`.trim(), world.environment)
const file = (folder: string, name: string) => readFileSync(join(world.folder, folder, name), 'utf8')

test('short deliveries of a period come as CSV, as a page to print, and with a bundle each that verifies', async () => {
  const { status, out } = await dispute('month', '--from 2026-01-01 --to 2026-01-01')
  expect(status).toBe(0)
  expect(out.replaceAll(world.folder, '')).toMatchInlineSnapshot(`
    "ASSET  NETWORK   DELIVERIES      SHORT
    USDC   arbitrum           2  20.000001
    /month holds short-deliveries.csv, short-deliveries.html and a bundle for each in evidence.
    "
  `)
  const csv = file('month', 'short-deliveries.csv').replaceAll(/,20[^,]*,(evidence)/g, ',NOTICED,$1')
  expect(csv.replaceAll(/0x0+/g, '0x')).toMatchInlineSnapshot(`
    "service_id,owner,paid_at,network,tx,paid,paid_asset,delivery_network,recipient,delivery_tx,delivery_asset,stated,delivered,short,noticed_at,evidence
    dep_1,channel shop,2026-01-01T00:00:00.000Z,base,0x7061792031,100.000000,USDC,arbitrum,0xff,0x666f72776172642031,USDC,99.900000,79.900000,20.000000,NOTICED,evidence/1.json
    dep_2,channel shop,2026-01-01T00:10:00.000Z,base,0x7061792032,100.000000,USDC,arbitrum,0xff,0x666f72776172642032,USDC,99.900000,99.899999,0.000001,NOTICED,evidence/2.json
    "
  `)
  const page = file('month', 'short-deliveries.html')
  expect(page).toContain('20.000001')
  expect(page).not.toContain('undefined')
  expect(readdirSync(join(world.folder, 'month/evidence')).toSorted()).toEqual(['1.json', '2.json'])
  for (const number of [1, 2]) {
    const path = join(world.folder, `month/evidence/${number}.json`)
    expect((await world.run(`evidence verify ${path}`, {})).status).toBe(0)
  }
})

async function serviceIds(folder: string, options: string): Promise<string[]> {
  const { out } = await dispute(folder, `--json ${options}`)
  return (JSON.parse(out) as { deliveries: { service_id: string }[] }).deliveries.map(
    ({ service_id: id }) => id,
  )
}

test('a day that is left out, and what a person resolved, come if they are asked for', async () => {
  expect(await serviceIds('whole', '')).toEqual(['dep_1', 'dep_2', 'dep_4'])
  expect(await serviceIds('all', '--all')).toEqual(['dep_1', 'dep_2', 'dep_5', 'dep_4'])
})

test('a deposit whose number is the id of another one at the service has its own bundle', async () => {
  const other = await sql`update deposit set service_id = '1' where id = 4`.execute(world.books.db)
  expect(other.numAffectedRows).toBe(1n)
  expect((await dispute('numbers', '--to 2026-01-01')).status).toBe(0)
  const { parts } = JSON.parse(file('numbers', 'evidence/1.json')) as { parts: { subject: object } }
  expect(parts.subject).toMatchObject({ deposit: '1' })
  await sql`update deposit set service_id = 'dep_4' where id = 4`.execute(world.books.db)
})

test('a folder that holds an earlier dispute is refused', async () => {
  await dispute('again', '')
  const { status, err } = await dispute('again', '')
  expect(status).toBe(2)
  expect(err).toContain('is there already; give another folder with --out')
})

test('nothing is written if no delivery is short', async () => {
  const { status, out } = await dispute('none', '--to 2025-12-31')
  expect({ status, out }).toEqual({ status: 0, out: 'No delivery is short: no file was written.\n' })
  expect(existsSync(join(world.folder, 'none'))).toBe(false)
})

test.each([
  ['--from 2026-01-02 --to 2026-01-01', 'the end is before --from'],
  ['--service elsewhere', '--service is "elsewhere"'],
])('%s is refused', async (options, problem) => {
  const { status, err } = await dispute('refused', options)
  expect(status).toBe(2)
  expect(err).toContain(problem)
})
