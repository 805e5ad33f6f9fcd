import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { activateRules } from '../../src/jobs/books/activate-rules.ts'
import { proposeMatches } from '../../src/jobs/books/propose-matches.ts'
import { decisionsCheck } from '../../src/jobs/people/check-decisions.ts'
import { listProposals } from '../../src/store/books/proposals.ts'
import { listRuleSets, waitingRules } from '../../src/store/streams.ts'
import { browserInstalled, type Visitor } from '../support/browser.ts'
import { payment, txId } from '../support/evidence.ts'
import { signers } from '../support/people.ts'
import { formTokenOf, openPeopleConsole, type PeopleConsole } from '../support/people-console.ts'
import { unkeyed } from '../support/proposing.ts'

let console: PeopleConsole
let rex: Visitor

async function signAndApprove(requester: Visitor, shown: string): Promise<void> {
  await requester.page.getByRole('button', { name: 'Prepare' }).click()
  await confirmAndApprove(requester, shown)
}

/** What the page shows of it is what is signed. */
async function confirmAndApprove({ page }: Visitor, shown: string): Promise<void> {
  await page.getByText(shown).first().waitFor()
  await page.getByRole('button', { name: 'Sign and request' }).click()
  await page.waitForURL(/decisions\/\d+$/)
  await rex.page.goto(page.url())
  await rex.page.getByText(shown).first().waitFor()
  await rex.page.getByRole('button', { name: 'Approve and sign' }).click()
  await rex.page.getByText('done', { exact: true }).waitFor()
  expect((await decisionsCheck(signers.erin.key).run(console.books.owner, () => undefined)).findings).toEqual(
    [],
  )
}

describe.skipIf(!browserInstalled())('decisions that are requested from their pages, in Chromium', () => {
  beforeAll(async () => {
    console = await openPeopleConsole()
    rex = await console.joined('rex', 'approver')
  }, 120_000)
  afterAll(async () => {
    await rex[Symbol.asyncDispose]()
    await console[Symbol.asyncDispose]()
  })

  test('the policy of the settings, by an administrator', async () => {
    const { db, deps } = console.books
    expect(await activateRules({ db, rules: deps.rules, now: deps.now })).toBe('waiting')
    await using ada = await console.joined('ada', 'administrator')
    await ada.page.goto(`${console.url}/settings`)
    await ada.page.getByText('The policy of the settings is not active yet').waitFor()
    await signAndApprove(ada, 'policy.tolerance.bps')
    expect(await waitingRules(db)).toBeNull()
    expect(await listRuleSets(db, 5)).toMatchObject([{ requestedBy: 'ada', approvedBy: 'rex' }])
    await ada.page.goto(`${console.url}/settings`)
    await ada.page.getByText('signed by ada and rex').waitFor()
    await using noa = await console.joined('noa', 'auditor')
    await noa.page.goto(`${console.url}/you`)
    const form = { form: await formTokenOf(noa) }
    const refused = await console.sent(noa, '/settings', { fields: form })
    expect(refused.text).toMatch(/noa .*administrator/)
  })

  test('a proposed match, by an operator', async () => {
    const { db, deps } = console.books
    await console.books.receive(
      unkeyed({ serviceId: 'dep_90' as never, deposit: { tx: txId('replaced') } }),
      payment({ tx: txId('speedier') }),
    )
    await console.books.settle()
    await proposeMatches({ db, rules: deps.rules, now: deps.now })
    const [proposal] = await listProposals(db, { limit: 5 })
    if (proposal === undefined) throw new Error('nothing is proposed')
    await using lea = await console.joined('lea', 'operator')
    const { page } = lea
    await page.goto(`${console.url}/proposals`)
    await page.getByLabel('Reason').fill('the wallet replaced the transaction')
    await signAndApprove(lea, proposal.transfer)
    expect(await listProposals(db, { limit: 5 })).toEqual([])
    await page.goto(`${console.url}/deposits/find?reference=dep_90`)
    expect(await page.locator('main').innerText()).toContain(txId('speedier'))
  })

  test('a journal by hand and its reversal, by an accountant', async () => {
    await using ana = await console.joined('ana', 'accountant')
    const { page, faults } = ana
    await page.goto(`${console.url}/ledger/journals`)
    await page.getByRole('link', { name: 'Book a journal by hand' }).click()
    await page.getByLabel('Date').fill('2026-01-03')
    await page.getByLabel('Reason').fill('The service paid what it owed')
    const line = page.getByRole('group', { name: 'Line 1' })
    await line.getByLabel('Debit').fill('assets:bank:main')
    await line.getByLabel('Amount').fill('7.505')
    await line.getByLabel('Asset').fill('base/USDC')
    await page.getByRole('button', { name: 'Prepare' }).click()
    await page.getByText('base/USDC is not balanced: debits 7.505000, credits 0.000000').waitFor()
    await line.getByLabel('Credit').fill('assets:receivable:service')
    await signAndApprove(ana, '7.505')
    await page.goto(`${console.url}/ledger/journals?kind=manual`)
    await page
      .getByRole('row', { name: /The service paid what it owed/ })
      .getByRole('link')
      .first()
      .click()
    await page.getByText('ana, approved by rex').waitFor()
    await page.getByLabel('Reason').fill('It was another service')
    await signAndApprove(ana, 'assets:receivable:service')
    await page.goto(`${console.url}/ledger/journals?by=ana`)
    const [reversal, original] = await page.locator('tbody tr').allInnerTexts()
    expect(reversal).toContain('It was another service')
    expect(original).toContain('The service paid what it owed')
    expect(faults).toEqual([])
    await rex.page.goto(`${console.url}/you`)
    const { status, text } = await console.sent(rex, '/ledger/journals', {
      fields: { form: await formTokenOf(rex), reason: 'mine' },
    })
    expect({ status, text }).toEqual({
      status: 403,
      text: 'to request a journal by hand, rex needs the role accountant\n',
    })
  })

  test('addresses from a file, and the end of one, by an operator', async () => {
    await using olaf = await console.joined('olaf', 'operator')
    const { page } = olaf
    const address = `0x${'ab'.repeat(20)}`
    const upload = async (text: string) => {
      await page.goto(`${console.url}/addresses?kind=stable_wallet`)
      const file = { name: 'wallets.csv', mimeType: 'text/csv', buffer: Buffer.from(text) }
      await page.getByLabel('File').setInputFiles(file)
    }
    await upload('id,network,address\nreserve,moon,0x1\n')
    await page.getByRole('button', { name: 'Prepare' }).first().click()
    await page.getByText('wallets.csv line 2: unknown network moon').waitFor()
    await upload(`id,network,address\nreserve,base,${address}\n`)
    await page.getByRole('button', { name: 'Prepare' }).first().click()
    await page.getByText(address).first().waitFor()
    await page.getByRole('button', { name: 'Sign and carry out' }).click()
    await page.getByText('done', { exact: true }).waitFor()
    await page.goto(`${console.url}/addresses?kind=stable_wallet`)
    await page.getByRole('row', { name: new RegExp(`reserve base ${address}`) }).waitFor()
    await page.getByLabel('Id', { exact: true }).fill('reserve')
    await page.getByLabel('Reason').fill('moved')
    await page.getByRole('button', { name: 'Prepare' }).last().click()
    await page.getByText(address).first().waitFor()
    await page.getByRole('button', { name: 'Sign and carry out' }).click()
    await page.getByText('done', { exact: true }).waitFor()
    await page.goto(`${console.url}/addresses?kind=stable_wallet`)
    expect(await page.getByRole('row', { name: /reserve/ }).innerText()).toMatch(/reserve\s+base.*\d\d:\d\d/)
  })
})
