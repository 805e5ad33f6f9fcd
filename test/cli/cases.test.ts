import { sql } from 'kysely'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { listMentions } from '../../src/store/mismatches/mentions.ts'
import { mismatchesAt } from '../../src/store/mismatches/show-mismatches.ts'
import { type Books, openBooks } from '../support/books.ts'
import { runCommand } from '../support/command.ts'
import { claim, payment, txId, webhook } from '../support/evidence.ts'
import { temporaryFolder } from '../support/folder.ts'
import { madeUpNetworks, settingsEnvironment } from '../support/judging-environment.ts'
import { addPeople, runDecided, signingKeys } from '../support/people.ts'

let books: Books
let environment: Record<string, string>

const settingsText = `${madeUpNetworks}policy: { settlementWithin: 1m, reportWithin: 1m }`

const unsettled = { status: 'confirmed', settlement: { tx: null, amount: null, fee: null } } as const

/** 1: a delivery is overdue, severe; 2 and 3: two payments that nobody reported. */
beforeEach(async () => {
  books = await openBooks()
  onTestFinished(() => books[Symbol.asyncDispose]())
  await addPeople(books.owner)
  await books.receive(webhook(unsettled), claim(unsettled), payment())
  await books.settle()
  await books.receive(payment({ tx: txId('one') }), payment({ tx: txId('two') }))
  await books.settle()
  await sql`update mismatch set opened_at = now() - interval '30 hours' where id = 1`.execute(books.db)
  environment = settingsEnvironment(books.url, await temporaryFolder(), settingsText)
})

/** Erin decides, and max approves. */
const depositd = (line: string) => runDecided(line, environment)

type Line = { id: string; status: string; assigned_to: string | null }

async function listed(options = ''): Promise<string[]> {
  const { out } = await depositd(`mismatches list --json ${options}`.trim())
  return (JSON.parse(out) as { items: Line[] }).items.map(({ id }) => id)
}

test('the list takes what matches', async () => {
  expect(await listed()).toEqual(['1', '2', '3'])
  expect(await listed('--kind unreported')).toEqual(['2', '3'])
  expect(await listed('--severity severe')).toEqual(['1', '2', '3'])
  expect(await listed('--severity warning')).toEqual([])
  expect(await listed('--older-than 24h')).toEqual(['1'])
  expect(await listed('--older-than 2d')).toEqual([])
  expect(await listed('--overdue')).toEqual(['1'])
  expect(await listed('--overdue --kind unreported')).toEqual([])
})

test('several are assigned at once, and the list shows and finds it', async () => {
  const { out } = await depositd('mismatches assign 2 3 max')
  expect(out).toMatch(/^assigned by erin\n/)
  expect(out).toContain('open, max')
  expect(await listed('--assigned max')).toEqual(['2', '3'])
  expect(await listed('--assigned nobody')).toEqual(['1'])
  await depositd('mismatches assign 3 nobody')
  expect(await listed('--assigned nobody')).toEqual(['1', '3'])
})

test('what the person did last is undone, one act after the other', async () => {
  await depositd('mismatches assign 2 3 max')
  await depositd('mismatches snooze 3 --until changed')
  expect((await depositd('mismatches undo')).out).toMatch(/^snoozed undone by erin\n/)
  expect(await listed('--assigned max')).toEqual(['2', '3'])
  expect((await depositd('mismatches undo')).out).toMatch(/^assigned undone by erin\n/)
  expect(await listed('--assigned nobody')).toEqual(['1', '2', '3'])
  const nothing = await depositd('mismatches undo')
  expect([nothing.status, nothing.err]).toEqual([2, expect.stringContaining('erin did nothing')])
  expect((await depositd('mismatches show 3')).out).toMatch(/erin +snoozed +undo/)
})

test('a comment names people of the register', async () => {
  await runDecided(['mismatches', 'comment', '2', '3', 'to @Max and @zoe'], environment)
  const [mention, ...others] = await listMentions(books.db, { person: 'max', limit: 3 })
  expect(mention).toMatchObject({ mismatch: 3n, actor: 'erin', text: 'to @Max and @zoe' })
  expect(others.map(({ mismatch }) => mismatch)).toEqual([2n])
  expect(await listMentions(books.db, { person: 'zoe', limit: 3 })).toEqual([])
})

test('what is snoozed is left out, unless it is asked for', async () => {
  await depositd('mismatches snooze 2 3 --until 24h')
  expect(await listed()).toEqual(['1'])
  expect(await listed('--snoozed')).toEqual(['1', '2', '3'])
  expect((await depositd('mismatches list --kind unreported --fail-on info')).status).toBe(0)
  expect((await depositd('mismatches list --kind unreported --snoozed --fail-on info')).status).toBe(1)
  await depositd('mismatches snooze 2 3 --until now')
  expect(await listed()).toEqual(['1', '2', '3'])
})

test('a snooze may end with what happens instead of a time', async () => {
  await depositd('mismatches snooze 2 --until loss-grows')
  await depositd('mismatches snooze 3 --until changed')
  expect(await listed()).toEqual(['1'])
  expect((await depositd('mismatches show 2')).out).toContain('until a larger loss')
  expect((await depositd('mismatches show 3')).out).toMatch(/erin +snoozed .* snooze ends with new evidence/)
  const { rows } = await sql<{ at: Date }>`select clock_timestamp() as at`.execute(books.db)
  const then = await mismatchesAt(books.db, [2n, 3n], rows[0]?.at ?? new Date(0))
  expect(then.map(({ id, status }) => [id, status])).toEqual([
    ['2', 'snoozed'],
    ['3', 'snoozed'],
  ])
})

test('what is resolved is no bad news, and can be opened again', async () => {
  const { out } = await depositd('mismatches resolve 2 3 --reason ours --json')
  expect(JSON.parse(out)).toMatchObject({
    state: 'done',
    by: 'erin',
    approved_by: 'max',
    mismatches: ['2', '3'],
  })
  expect(await listed()).toEqual(['1'])
  expect(await listed('--all')).toEqual(['1', '2', '3'])
  expect((await depositd('mismatches list --kind unreported --all --fail-on info')).status).toBe(0)
  expect((await depositd('deposits show 2')).out).toMatch(/unreported \(severe\) since \S+, resolved: /)
  await depositd('mismatches reopen 2 3 --reason not-ours')
  expect(await listed()).toEqual(['1', '2', '3'])
})

test('the list tells how long there is to act, and when that is over', async () => {
  const { out } = await depositd('mismatches list')
  expect(out.split('\n')[0]).toMatch(/ AGE +ACT IN +CASE /)
  expect(out).toMatch(/^ 1 .* overdue +open /m)
  // A slow machine has up to 19 minutes to look.
  await sql`update mismatch set opened_at = now() - interval '30 minutes' where id = 2`.execute(books.db)
  expect((await depositd('mismatches list')).out).toMatch(/^ 2 .* 03:[12]\d:\d\d +open /m)
  await depositd('mismatches resolve 1 --reason paid')
  expect(await listed('--overdue --all')).toEqual([])
  const { items: lines } = JSON.parse((await depositd('mismatches list --all --json')).out) as {
    items: Record<string, unknown>[]
  }
  expect(lines.find(({ id }) => id === '1')).toMatchObject({ status: 'resolved', act_by: null, act_in: '' })
  const open = lines.find(({ id }) => id === '2')
  expect(Date.parse(String(open?.act_by)) - Date.parse(String(open?.opened_at))).toBe(4 * 3_600_000)
})

test('who does it is the person of the key, who must be an operator', async () => {
  expect((await depositd('mismatches comment 2 asked')).out).toContain('commented by erin\n')
  const line = 'mismatches comment 2 asked'
  expect(await runCommand(line, { ...environment, ...signingKeys.max })).toMatchObject({
    status: 2,
    out: '',
    err: expect.stringContaining('max is no operator, but approver'),
  })
  const { SIGNING_KEY_FILE: _key, ...without } = environment
  expect((await runCommand(line, without)).err).toContain('no SIGNING_KEY is set')
})

test('show tells all about one', async () => {
  await depositd('mismatches assign 2 max')
  await depositd('mismatches resolve 2 --reason ours')
  await depositd('mismatches reopen 2 --reason not-ours')
  await depositd('mismatches snooze 2 --until 24h')
  await depositd('mismatches comment 2 asked')
  const { out } = await depositd('mismatches show 2')
  const timeless = out
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\d+:\d\d:\d\d/g, 'AGE')
    .replaceAll(/ {2,}/g, '  ')
  expect(timeless).toMatchInlineSnapshot(`
    "mismatch 2: unreported (severe), snoozed
      about  deposit/2
      deposit  2: confirmed, 100.000000 USDC on base, for channel shop
      loss  100 USDC
      open for  AGE
      act by  TIME
      assigned  max
      snoozed  TIME
      resolved  -
      cleared  -
      says  The service has not reported the payment since TIME
      means  A final payment reached a deposit address, and the service has not reported it in time.
      next  Send the transaction to the service. The amount stays in suspense until the service claims it.

      history
      AT  WHO  DID  WHY  FROM  TO
      TIME  depositd  opened
      TIME  erin  assigned  assigned to max
      TIME  erin, max  resolved  ours  The service has not reported the payment since TIME
      TIME  erin  reopened  not-ours  The service has not reported the payment since TIME
      TIME  erin  snoozed  snoozed until TIME
      TIME  erin  commented  asked
    "
  `)
  const json = JSON.parse((await depositd('mismatches show 2 --json')).out) as {
    next: string
    history: object[]
  }
  expect(json.next).toContain('Send the transaction to the service')
  expect(json.history).toHaveLength(6)
})

const wrongUses = [
  ['mismatches resolve 1', "required option '--reason <text>' not specified"],
  ['mismatches resolve one --reason x', 'one is not a mismatch number'],
  ['mismatches reopen 1 --reason x', 'mismatch 1 is open'],
  ['mismatches assign max', 'no mismatch given'],
  ['mismatches assign 1 depositd', 'the name is "depositd"'],
  ['mismatches assign 1 2', '2 is a number, not a name; end with the name of a person'],
  ['mismatches snooze 1 --until 2020-01-01', '--until is "2020-01-01"'],
  ['mismatches snooze 1 --until soon', '--until is "soon"'],
  ['mismatches list --older-than long', '--older-than is "long"'],
  ['mismatches write-off 1 --reason x', 'a write-off requires --account'],
  ['deposits split 2 --transfer base/0x0/0 --reason x', 'deposit 2 has no service id'],
] as const

test.each([
  ['mismatches resolve 99 --reason x', 'mismatch 99 does not exist'],
  ['mismatches show 99', 'mismatch 99 not found'],
  ['deposits match dep_9 --transfer base/0x0/0 --reason x', 'there is no deposit dep_9'],
  [
    'deposits match dep_1 --transfer base/0x0/0 --reason x',
    'no chain transfer base/0x0/0 to a watched address is known; write it as network/transaction/index',
  ],
])('%s names something that is not found: status 3', async (line, message) => {
  expect(await depositd(line)).toMatchObject({
    status: 3,
    out: '',
    err: expect.stringContaining(message),
  })
})

test('wrong use has status 2 and a line that says what is wrong, and does nothing', async () => {
  const before = await listed('--all')
  for (const [line, message] of wrongUses) {
    const { status, out, err } = await depositd(line)
    expect({ line, status, out, says: err.includes(message) }).toEqual({
      line,
      status: 2,
      out: '',
      says: true,
    })
  }
  expect(await listed('--all')).toEqual(before)
  const { rows } = await sql`select 1 from mismatch_event`.execute(books.db)
  expect(rows).toEqual([])
})

test('a write-off by two people is booked and told', async () => {
  const { status, out } = await depositd('mismatches write-off 1 --account receivable --reason bankrupt')
  expect({ status, out }).toEqual({
    status: 0,
    out: `base/${txId('pay')}/0: written off to assets:receivable:service, by erin, approved by max, decision 4\n`,
  })
  expect((await depositd('ledger balances')).out).toMatch(/assets:receivable:service +100\.000000/)
  const withdrawn = await depositd('mismatches write-off 1 --withdraw --reason paid --json')
  expect(JSON.parse(withdrawn.out)).toMatchObject({
    verdict: { kind: 'write_off_withdrawn' },
    by: 'erin',
    approved_by: 'max',
  })
})

test('an approval shows what would be signed, and asks', async () => {
  const line = 'mismatches write-off 1 --account receivable --reason bankrupt'
  const asMax = { ...environment, ...signingKeys.max }
  const { out } = await runCommand(line, { ...environment, ...signingKeys.erin })
  const [, id = ''] = /^decision (\d+) is requested by erin/.exec(out) ?? []
  const asked = await runCommand(`decisions approve ${id}`, asMax)
  expect(asked).toMatchObject({ status: 2, err: expect.stringContaining(`Sign decision ${id}?`) })
  expect(asked.out).toContain(`decision ${id}: write-off, requested by erin at `)
  expect(asked.out).toContain('  reason: bankrupt\n')
  expect(asked.out).toMatch(/^assets:receivable:service +assets:in_transit:base +100\.000000/m)
  expect((await runCommand(`decisions approve ${id} --yes`, asMax)).status).toBe(0)
})

test('a transfer is matched to a deposit, and split from it', async () => {
  const about = `dep_1 --transfer base/${txId('one')}/0`
  expect((await depositd(`deposits match ${about} --reason theirs`)).out).toBe(
    `base/${txId('one')}/0: matched with deposit dep_1, by erin, approved by max, decision 4\n`,
  )
  expect((await depositd(`deposits split ${about} --reason mistaken`)).out).toContain(
    'split from deposit dep_1',
  )
})
