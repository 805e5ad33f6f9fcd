import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AccountId } from '../../../src/core/chart.ts'
import type { ServiceId } from '../../../src/core/evidence.ts'
import { activateRules } from '../../../src/jobs/books/activate-rules.ts'
import { checkOpening, readOpeningFile } from '../../../src/jobs/books/open-books.ts'
import type { ProvedOpening } from '../../../src/jobs/books/prove-opening.ts'
import { verifyBooks } from '../../../src/jobs/books/verify-books.ts'
import type { OwnFunds } from '../../../src/ledger/opening-lots.ts'
import type { Period } from '../../../src/ledger/period.ts'
import { readAssetNames } from '../../../src/store/assets.ts'
import { findImbalances } from '../../../src/store/books/books-audit.ts'
import { readReceived } from '../../../src/store/books/groups.ts'
import { tieWallet } from '../../../src/store/books/withdrawals.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { listBalances, trialBalance } from '../../../src/store/ledger/accounts.ts'
import { activeRules, markUnapplied } from '../../../src/store/streams.ts'
import { readText } from '../../docs/pages.ts'
import type { Books } from '../../support/books.ts'
import { at, claim, credit, payment, txId, usdcOnBase } from '../../support/evidence.ts'
import { openExampleBooks } from '../../support/example-books.ts'
import { manualJournals, people, problemOf, written } from '../../support/manual-journals.ts'
import { fences } from '../../support/markdown.ts'
import { addPeople, decideTogether, decisionDeps } from '../../support/people.ts'
import { addJournal, bookOpening, changePeriod, reverseJournal } from '../../support/unsigned.ts'

const day = 24 * 60
/** Deposits 1 and 2 are delivered, deposit 3 is paid and not delivered yet, the others follow. */
const opening = at(day + 9 * 60 + 1)
const byHand = { ...people, reason: 'the books begin' }
const unproved: ProvedOpening = { proofs: [], balances: [] }
const transit = 'assets:in_transit:base'

let books: Books
let ownFunds: OwnFunds = null

beforeEach(async () => {
  books = await openExampleBooks()
})
afterEach(() => books[Symbol.asyncDispose]())

async function openingDeps() {
  const { accountPatterns } = manualJournals(books.owner)
  const assets = await readAssetNames(books.db)
  return { db: books.owner, accountPatterns, contras: [], ownFunds, assets, now: () => at(3 * day) }
}

type Opening = { csv: string; moment?: Date; proved?: ProvedOpening; toSuspense?: boolean }

async function prepare({ csv, moment = opening, proved = unproved, toSuspense = false }: Opening) {
  const deps = await openingDeps()
  const balancesOfFile = await readOpeningFile(deps, csv)
  const prove = () => Promise.resolve(proved)
  const received = await readReceived(books.db, deps.now())
  return [deps, { at: moment, received, stated: balancesOfFile, toSuspense, prove }] as const
}

async function open(parts: Opening) {
  return bookOpening(...(await prepare(parts)), byHand)
}

const asOf = (moment: Date) => ({ asOf: moment.toISOString(), recordedAsOf: null, period: null })

/** The balances at that moment, as a file. */
async function stated(moment = opening): Promise<string> {
  const { lines } = await trialBalance(books.db, asOf(moment))
  const rows = lines.map(({ account, asset, balance }) => `${account},${asset},${balance}`)
  return ['account,asset,balance', ...rows].join('\n')
}

/** Without the other side of the opening. */
async function balances(): Promise<Record<string, string>> {
  const rows = await listBalances(books.db)
  return Object.fromEntries(
    rows
      .filter(({ account, balance_base: balance }) => account !== 'equity:opening' && balance !== '0')
      .map(({ account, asset, balance }) => [`${account} ${asset}`, balance]),
  )
}

const verify = () =>
  verifyBooks({ ...books.deps, now: () => at(3 * day) }, { subjectsMax: 100, onProgress: () => undefined })

test.each([
  ['between a payment and its delivery', at(10 * 60 + 1)],
  ['between a payment and its short delivery', opening],
  ['after all of it', at(2 * day + 12 * 60)],
])(
  'an opening %s replaces what happened before it, and later evidence of that books nothing',
  async (_when, moment) => {
    const [before, untied] = [await balances(), await findImbalances(books.db)]
    const journal = await open({ csv: await stated(moment), moment })
    expect(journal).toMatchObject({ key: 'opening/1', kind: 'opening', eventAt: moment, byHand })
    await books.settle()
    expect(await balances()).toEqual(before)
    const { lines } = await trialBalance(books.db, asOf(new Date(moment.getTime() - 1)))
    expect(lines.filter(({ balance }) => !/^[0.]+$/.test(balance))).toEqual([])
    await books.receive(
      payment({ tx: txId('pay8'), height: 30n, blockAt: at(60), receivedAt: at(2 * day) }),
      claim({ serviceId: 'dep_8' as ServiceId, deposit: { tx: txId('pay8') } }),
    )
    await books.settle()
    expect(await balances()).toEqual(before)
    expect(await findImbalances(books.db)).toEqual(untied)
    expect(await verify()).toMatchObject({ due: 0, differing: 0 })
    await reverseJournal(books.owner, journal.id, byHand)
    await books.settle()
    const booked = Number(before[`${transit} ${usdcOnBase}`]) + 100
    expect(await balances()).toMatchObject({ [`${transit} ${usdcOnBase}`]: booked.toFixed(6) })
    expect(await open({ csv: await stated(moment), moment })).toMatchObject({ key: 'opening/2' })
  },
)

test('the file of docs/how-to/open-the-books.md is understood', async () => {
  const [csv] = fences(readText('docs/how-to/open-the-books.md')).filter(({ language }) => language === 'csv')
  expect(await readOpeningFile(await openingDeps(), csv?.text ?? '')).toMatchObject({
    transfers: { length: 6 },
    lots: [],
  })
})

test('a payment from before the opening keeps its time in the conversion that settles it later', async () => {
  const moment = at(10 * 60 + 1)
  await open({ csv: await stated(moment), moment })
  await books.settle()
  const { rows } = await sql<{ receivedAt: Date }>`
    select received_at as "receivedAt" from accounting.conversion where deposit_id = 1
    order by journal_id desc limit 1`.execute(books.db)
  expect(rows).toEqual([{ receivedAt: at(10 * 60) }])
})

test('a credit from before the opening is not expected at its wallet once more', async () => {
  const moment = at(2 * day)
  await open({ csv: await stated(moment), moment })
  await books.settle()
  await sql`update deposit set state = 'settled' where id = 4`.execute(books.db)
  const reading = { wallet: 'savings', asset: credit, balance: 0n, readAt: at(3 * day), withinMs: 1 }
  await inTransaction(books.db, (tx) => tieWallet(tx, reading))
  const { rows } = await sql`select books, arriving from wallet_balance`.execute(books.db)
  expect(rows).toEqual([{ books: '19980000', arriving: '0' }])
})

test('in transit is listed as the opening less what left it, and a payment from before it can be written off', async () => {
  const stuckUntil = at(day + 15 * 60 + 1)
  await open({ csv: `account,asset,balance\n${transit},base/USDC,75`, moment: stuckUntil })
  await books.settle()
  const list = async () => {
    const { rows } = await sql<{ deposit: number | null; amount: string; since: Date }>`
      select deposit_id::int as deposit, amount::text as amount, since
      from accounting.in_transit_at(${at(3 * day)}) order by deposit`.execute(books.db)
    return rows
  }
  const later = { deposit: 6, amount: '40.000000', since: at(day + 16 * 60) }
  expect(await list()).toEqual([later, { deposit: null, amount: '75.000000', since: stuckUntil }])
  const { rows } = await sql<{ id: bigint }>`
    select id from mismatch where deposit_id = 5 and cleared_at is null`.execute(books.db)
  const lost = { verdict: 'write_off', account: 'expenses:write_off', reason: 'the service lost it' }
  const change = { mismatch: `${rows[0]?.id}`, ...lost }
  await addPeople(books.owner)
  const deps = decisionDeps(books.owner, [], async () => ({ ...books.deps, secondPersonAbove: new Map() }))
  await decideTogether({ ...deps, now: books.deps.now }, { kind: 'write_off', change })
  await books.settle()
  expect(await list()).toEqual([later])
  const { rows: tied } = await sql`
    select address from accounting.tie_out where difference <> 0 or address is null`.execute(books.db)
  expect(tied).toEqual([])
})

const proof = (account: string, amount: bigint) => ({
  account: account as AccountId,
  asset: usdcOnBase,
  amount,
  basis: 'block 10',
})

test('a difference from what is proved is booked only by decision, and then the account has the proved balance', async () => {
  const proved = { proofs: [proof(transit, 30n), proof('assets:in_transit:arbitrum', 0n)], balances: [] }
  const csv = `asset,account,balance\nbase/USDC,${transit},0.00005\nbase/USDC,liabilities:deposits:channel:shop,-0.000050`
  const { rows } = await checkOpening(...(await prepare({ csv, proved })))
  expect(rows).toMatchObject([
    { account: transit, stated: 50n, proved: 30n, difference: -20n },
    { account: 'liabilities:deposits:channel:shop', stated: -50n, proved: null, difference: null },
  ])
  expect(await problemOf(open({ csv, proved }))).toBe('one balance differs from what is proved')
  await open({ csv, proved, toSuspense: true })
  await books.settle()
  const { lines } = await trialBalance(books.db, asOf(opening))
  const ofUsdc = lines.filter(({ asset }) => asset === usdcOnBase)
  const at30 = Object.fromEntries(ofUsdc.map(({ account, balance_base: balance }) => [account, balance]))
  expect(at30).toMatchObject({ [transit]: '30', 'liabilities:suspense': '20', 'equity:opening': '0' })
})

test('an opening is refused for what would make it wrong', async () => {
  const csv = `account,asset,balance\n${transit},base/USDC,5`
  const refuse = (changes: Partial<Opening>) => problemOf(open({ csv, ...changes }))
  expect(await refuse({ moment: at(4 * day) })).toMatch(/is in the future$/)
  expect(await refuse({ csv: 'account,asset,balance\n' })).toBe('there are no balances to book')
  const faulty = `account,asset,balance
assets:in_transit:base,base/USDC,1
assets:in_transit:base,base/USDC,1
assets:in_transit:mars,base/USDC,1
liabilities:deposits:channel:shpo,base/USDC,-1
assets:stable_wallet:savings,stable-wallet/USDC,1.0000001
equity:opening,base/USDC,1
assets:bank:main,base/DAI,1
assets:bank:main,base/USDC
assets:bank:main,base/USDC,1e3
assets:forwarded:arbitrum:0x00000000000000000000000000000000000000ff,arbitrum/USDC,1`
  const faults = (await refuse({ csv: faulty })).split('; ')
  expect(faults.map((fault) => fault.slice(0, 48)).toSorted()).toMatchInlineSnapshot(`
    [
      "line 10: 1e3 is no balance, like 12.50 or -12.50",
      "line 3: repeats line 2",
      "line 4: account assets:in_transit:mars does not ",
      "line 5: account liabilities:deposits:channel:shp",
      "line 6: 1.0000001 is not an amount of USDC, whic",
      "line 7: equity:opening is the other side of ever",
      "line 8: asset base/DAI does not exist: write it ",
      "line 9: has 2 cells, but the first line has 3 co",
    ]
  `)
  expect(await refuse({ csv: 'account,asset,amount\n' })).toMatch(
    /^line 1: has the columns account, asset, amount/,
  )
  const { id } = await addJournal(manualJournals(books.owner), written({ date: opening }), people)
  expect(await refuse({})).toBe(`journals by hand are dated before the opening: ${id}`)
  await reverseJournal(books.owner, id, byHand)
  expect(await checkOpening(...(await prepare({ csv })))).toMatchObject({ replaced: 7, period: '2026-01-01' })
  const journal = await open({ csv })
  expect(await refuse({})).toBe(`the books were opened at ${opening.toISOString()}, by journal ${journal.id}`)
  const early = addJournal(
    manualJournals(books.owner),
    written({ date: opening, reference: 'early' }),
    people,
  )
  expect(await problemOf(early)).toMatch(/^the books begin with the opening balances of /)
  await reverseJournal(books.owner, journal.id, byHand)
  const close = {
    period: '2026-01' as Period,
    action: 'closed',
    forced: true,
    reason: 'test',
    ...people,
  } as const
  await changePeriod(books.owner, close)
  expect(await refuse({})).toBe('2026-01 is closed')
})

test('nothing is decided while an opening is booked, and an interrupted one is completed by the next start', async () => {
  const { db, deps } = books
  const activate = () => activateRules({ db, rules: deps.rules, now: () => at(3 * day) })
  await activate()
  await books.settle()
  await inTransaction(db, markUnapplied)
  expect(await problemOf(open({ csv: await stated() }))).toMatch(/; not all deposits are queued /)
  expect(await activate()).toBe('activated')
  await books.settle()
  const order: string[] = []
  let opened: Promise<unknown> = Promise.resolve()
  await inTransaction(db, async (tx) => {
    await activeRules(tx)
    opened = open({ csv: await stated() }).then(() => order.push('opened'))
    await sleep(300)
    order.push('decided')
  })
  await opened
  expect(order).toEqual(['decided', 'opened'])
  expect(await activate()).toBe('unchanged')
})
