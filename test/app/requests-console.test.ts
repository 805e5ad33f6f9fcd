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

/** What the page shows of it is what is signed. */
async function signAndApprove({ page }: Visitor, shown: string): Promise<void> {
  await page.getByRole('button', { name: 'Prepare' }).click()
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
})
