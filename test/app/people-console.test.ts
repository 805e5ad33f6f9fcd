import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decisionsCheck } from '../../src/jobs/people/check-decisions.ts'
import { browserInstalled } from '../support/browser.ts'
import { at } from '../support/evidence.ts'
import { claimsOf, forwarded, paymentOf } from '../support/example-books.ts'
import { signers } from '../support/people.ts'
import { openPeopleConsole, type PeopleConsole } from '../support/people-console.ts'

let console: PeopleConsole

/** As many as DEPOSITD_CASES. */
const cases = Number(process.env.DEPOSITD_CASES ?? 8)

describe.skipIf(!browserInstalled())('people at the console, in Chromium', () => {
  beforeAll(async () => {
    console = await openPeopleConsole()
    const minutes = (Date.now() - at(0).getTime()) / 60_000 - 10
    const amount = 10_000_000n
    await console.books.receive(...forwarded({ number: 500, minutes, paid: amount, delivered: amount }))
    await console.books.settle()
  }, 60_000)
  afterAll(() => console[Symbol.asyncDispose]())

  test('a person makes a passkey, signs in, and approves by it what another requested', async () => {
    await using sam = await console.joined('sam', 'approver,operator')
    const { page, faults } = sam
    const id = await console.requestJournal('by-passkey')
    await page.goto(`${console.url}/decisions?state=waiting`)
    await page.getByRole('link', { name: id, exact: true }).click()
    expect(await page.locator('main').innerText()).toContain('7.500000')
    await page.getByRole('button', { name: 'Approve and sign' }).click()
    await page.getByText('done', { exact: true }).waitFor()
    expect(await decisionsCheck(signers.erin.key).run(console.books.owner, () => undefined)).toMatchObject({
      findings: [],
    })
    expect(faults).toEqual([])
  })

  test('by keys alone, a possible loss is resolved, reopened and written off: signed by one, approved by another', async () => {
    await using ines = await console.joined('ines', 'operator')
    await using jan = await console.joined('jan', 'approver')
    const { page, faults } = ines
    const decide = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key)
      await page.keyboard.type('they are insolvent')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: /^Sign: / }).waitFor()
      expect(await page.locator('main').innerText()).toContain('75.000000')
      await page.keyboard.press('y')
      await page.waitForURL(/decisions\/\d+$/)
      await jan.page.goto(page.url())
      await jan.page.keyboard.press('y')
      await jan.page.getByText('done', { exact: true }).waitFor()
    }
    await page.goto(`${console.url}/mismatches?kind=settlement_missing`)
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(/mismatches\/\d+$/)
    const mismatch = page.url()
    await decide('r')
    await page.goto(mismatch)
    await page.keyboard.press('r')
    await page.keyboard.type('they paid nothing')
    await page.keyboard.press('Enter')
    await page.getByText('open', { exact: true }).waitFor()
    await decide('w', 'Tab')
    expect(await decisionsCheck(signers.erin.key).run(console.books.owner, () => undefined)).toMatchObject({
      findings: [],
    })
    expect(faults).toEqual([])
  })

  test('by keys alone, a person finds a case, takes it and comments on it', async () => {
    await using kim = await console.joined('kim', 'operator')
    const { page, faults } = kim
    await page.goto(console.url)
    await page.keyboard.press('2')
    await page.waitForURL(/mismatches$/)
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    await page.keyboard.press('Enter')
    await page.waitForURL(/mismatches\/\d+$/)
    await page.keyboard.press('a')
    await page.getByRole('button', { name: 'Give it back' }).waitFor()
    await page.keyboard.press('c')
    await page.keyboard.type('as far as a, c and r')
    await page.keyboard.press('Enter')
    await page.getByText('as far as a, c and r').waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('/')
    expect(await page.evaluate('document.activeElement.id')).toBe('reference')
    await page.goto(`${console.url}/mismatches`)
    await page.getByRole('link', { name: 'Mine' }).click()
    expect(await page.locator('tbody tr').count()).toBe(1)
    await page.getByRole('link', { name: 'By cause' }).click()
    await page.getByRole('heading', { name: 'Mismatches by cause' }).waitFor()
    expect(faults).toEqual([])
  })

  test('addresses and people are listed, and sign-ins only for those who may see them', async () => {
    await using lea = await console.joined('lea', 'operator')
    const { page } = lea
    await page.goto(`${console.url}/addresses`)
    expect(await page.locator('tbody').innerText()).toContain('shop')
    await page.goto(`${console.url}/people`)
    expect(await page.locator('tbody').innerText()).toContain('erin')
    expect(await page.getByRole('heading', { name: 'What they did' }).count()).toBe(0)
    await using noa = await console.joined('noa', 'auditor')
    await noa.page.goto(`${console.url}/people`)
    await noa.page.getByRole('heading', { name: 'What they did' }).waitFor()
    expect(await noa.page.locator('tbody').last().innerText()).toContain('lea')
  })

  test('times are in the zone of the reader, with the exact one on hover', async () => {
    await using visitor = await console.visitor('Asia/Tokyo')
    const { page } = visitor
    await page.goto(`${console.url}/deposits/1`)
    const time = page.locator('time').first()
    expect(await time.innerText()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d GMT\+9$/)
    const [exact, shown] = [await time.getAttribute('title'), await time.innerText()]
    expect(new Date(`${shown.slice(0, 19).replace(' ', 'T')}+09:00`).toISOString().slice(0, 19)).toBe(
      exact?.slice(0, 19),
    )
  })

  test('many cases of one cause are settled by one person and approved by another, in five actions', async () => {
    const { books, url } = console
    const numbers = Array.from({ length: cases }, (_, place) => place + 1000)
    await books.receive(
      ...numbers.flatMap((number) => {
        const stuck = { number, minutes: 2000, paid: 75_000_000n }
        return [paymentOf(stuck), ...claimsOf(stuck, 'confirmed')]
      }),
    )
    await books.settle()
    const { out } = await console.asErin(
      `mismatches list --json --kind settlement_missing --limit ${cases + 1}`,
    )
    const open = (JSON.parse(out) as { items: unknown[] }).items.length
    await using lea = await console.joined('lea', 'operator')
    await lea.page.goto(`${url}/mismatches?kind=settlement_missing`)
    const form = lea.page.locator('form[action="/mismatches"]').filter({ hasText: 'Write off as' })
    await form.getByLabel('Reason').fill('the service is insolvent')
    await form.getByRole('button', { name: 'Prepare' }).click()
    await lea.page.getByRole('button', { name: /^Sign and/ }).click()
    await lea.page.waitForURL(`${url}/decisions`)
    await using mia = await console.joined('mia', 'approver')
    await mia.page.goto(`${url}/decisions/waiting`)
    await mia.page.getByRole('button', { name: /^Approve and sign all \d+$/ }).click()
    await mia.page.waitForURL(`${url}/decisions`)
    const { rows } = await sql<{ count: bigint; sum: string; pairs: bigint }>`
      select count(*), sum(t.amount)::text as sum, count(distinct (m.made_by, m.approved_by)) as pairs
      from manual_journal m join ledger_journal j on j.id = m.journal_id join ledger_transfer t on t.journal_id = j.id
      where m.reason = 'the service is insolvent'`.execute(books.db)
    expect(rows).toEqual([{ count: BigInt(open), sum: `${open * 75_000_000}`, pairs: 1n }])
    const { findings } = await decisionsCheck(signers.erin.key).run(books.owner, () => undefined)
    expect(findings).toEqual([])
  }, 120_000)
})
