import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readText } from '../../docs/pages.ts'
import { delivery, payment, txId } from '../../support/evidence.ts'
import { policyWorld, settingsText, settled } from '../../support/policy-world.ts'

let world: Awaited<ReturnType<typeof policyWorld>>
beforeEach(async () => {
  world = await policyWorld()
})
afterEach(() => world[Symbol.asyncDispose]())

/** All that a decision writes. */
async function stored() {
  const { rows } = await sql`
    select (select jsonb_agg(d order by id) from deposit d) as deposits,
      (select jsonb_agg(m order by id) from mismatch m) as mismatches,
      (select jsonb_agg(j order by id) from ledger_journal j) as journals,
      (select jsonb_agg(g order by id) from evidence_group g) as groups`.execute(world.books.db)
  return rows
}

const tolerant = `policy:
  routes:
    - match: { asset: { in: base/USDC, out: arbitrum/USDC } }
      tolerance: { amount: '0.01' }
`

test('a dry run tells what another policy would change, and changes nothing', async () => {
  await world.receive(settled('dep_1', 99_900_000n, { lack: 10_000n }), settled('dep_2', 99_900_000n))
  const before = await stored()
  const { status, out, err } = await world.depositd(
    `reconcile --policy ${world.write('new.yaml', tolerant)} --dry-run`,
  )
  expect(out).toBe(`\
DEPOSIT  SERVICE ID OR TRANSFER  STATE                  MISMATCHES                JOURNALS
      1  dep_1                   settled -> reconciled  settlement_short -> none  reversal, reversal, settlement

WHAT              BEFORE   AFTER       DEPOSITS
state             settled  reconciled         1
settlement_short  open     -                  1
journal           -        reversal           2
journal           -        settlement         1

1 of 2 deposits would change; nothing was written
`)
  expect(readText('docs/policy.md')).toContain(err + out)
  expect({ status, err }).toEqual({ status: 1, err: 'groups decided with both policies: 2 of 2\n' })
  expect(await stored()).toEqual(before)
})

test('a dry run as a document', async () => {
  const short = ['dep_1', 'dep_2', 'dep_3'].map((id) => settled(id, 99_900_000n, { lack: 10_000n }))
  await world.receive(...short)
  const { status, out } = await world.depositd(
    `reconcile --policy ${world.write('new.yaml', tolerant)} --dry-run --json --limit 2`,
  )
  expect(status).toBe(1)
  const document = JSON.parse(out) as { changes: unknown[] }
  expect(document).toMatchObject({
    groups: 3,
    deposits: 3,
    changed: 3,
    summary: expect.arrayContaining([
      { what: 'state', before: 'settled', after: 'reconciled', count: 3 },
    ]) as unknown,
  })
  expect(document.changes).toHaveLength(2)
  expect(document.changes[0]).toMatchObject({
    id: '1',
    service_id: 'dep_1',
    before: { state: 'settled', mismatches: ['settlement_short'], journals: [] },
    after: {
      state: 'reconciled',
      mismatches: [],
      journals: [
        { reverses: expect.stringContaining('settlement/') as unknown },
        { reverses: expect.stringContaining('shortage/') as unknown },
        {
          kind: 'settlement',
          transfers: expect.arrayContaining([
            expect.objectContaining({
              debit: 'expenses:tolerance',
              amount: '0.010000',
              amount_base: '10000',
            }),
          ]) as unknown,
        },
      ],
    },
  })
})

test('a policy that changes nothing is good news', async () => {
  await world.receive(settled('dep_1', 99_900_000n))
  expect(
    await world.depositd(`reconcile --policy ${world.write('new.yaml', tolerant)} --dry-run`),
  ).toMatchObject({
    status: 0,
    out: 'nothing would change: 1 deposits decided with both policies\n',
  })
})

test('a payment and a delivery that nobody tells of are shown by their transfers', async () => {
  await world.receive([payment(), delivery()])
  const slow = world.write('new.yaml', 'policy: { reportWithin: 999999h }\n')
  const sender = (delivery().from ?? '').toString()
  world.write('settings.yaml', `${settingsText}service: { senders: { arbitrum: ['${sender}'] } }\n`)
  const { status, out } = await world.depositd(`reconcile --policy ${slow} --dry-run`)
  expect(status).toBe(1)
  expect(out).toMatch(new RegExp(`1  base/${txId('pay')}/0  +confirmed +unreported -> none  +reversal`))
  expect(out).toMatch(new RegExp(`-  arbitrum/${txId('forward')}/0  +- +settlement_unreported -> none  +-`))
})

test('reconcile without --dry-run is refused in one line', async () => {
  expect(await world.depositd(`reconcile --policy ${world.write('new.yaml', tolerant)}`)).toEqual({
    status: 2,
    out: '',
    err: "error: required option '--dry-run' not specified\n",
  })
})

test('a file without a policy is no policy', async () => {
  const { status, err } = await world.depositd(`reconcile --policy ${world.write('new.yaml', '')} --dry-run`)
  expect(status).toBe(2)
  expect(err).toMatch(/new\.yaml, policy: is missing\n$/)
})

test('a policy file is refused with the line of its fault', async () => {
  const refused = async (text: string) => {
    const path = world.write('new.yaml', text)
    const { status, err } = await world.depositd(`reconcile --policy ${path} --dry-run`)
    expect(status).toBe(2)
    return err.replace(path, 'new.yaml')
  }
  expect(await refused(tolerant.replace('0.01', '0.0000001'))).toBe(
    'depositd: new.yaml, line 4, policy.routes.0.tolerance.amount: is "0.0000001", and USDC on arbitrum has 6 decimals\n',
  )
  expect(await refused(`${tolerant}service: {}\n`)).toBe(
    'depositd: new.yaml, line 5, the file: unknown key service\n',
  )
  const gone = await world.depositd('reconcile --policy gone.yaml --dry-run')
  expect(gone.err).toMatch(/^depositd: --policy cannot be read: ENOENT/)
})
