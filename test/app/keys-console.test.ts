import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultService } from '../../src/core/evidence.ts'
import { keepQuarantined } from '../../src/store/quarantine.ts'
import { browserInstalled, type Visitor } from '../support/browser.ts'
import { openPeopleConsole, type PeopleConsole } from '../support/people-console.ts'

let console: PeopleConsole
let kim: Visitor

/** As a person who sees the focus would reach it. */
async function tabTo(target: Locator): Promise<void> {
  for (let steps = 0; steps < 120; steps++) {
    await kim.page.keyboard.press('Tab')
    if ((await target.and(kim.page.locator(':focus')).count()) === 1) return
  }
  throw new Error(`Tab does not reach ${String(target)}`)
}

async function press(name: string): Promise<void> {
  await tabTo(kim.page.getByRole('button', { name, exact: true }).first())
  await kim.page.keyboard.press('Enter')
}

async function typeInto(label: string, text: string): Promise<void> {
  await tabTo(kim.page.getByLabel(label).first())
  await kim.page.keyboard.type(text)
}

describe.skipIf(!browserInstalled())('actions by Tab and Enter alone, in Chromium', () => {
  beforeAll(async () => {
    console = await openPeopleConsole()
    const webhook = { service: defaultService, receivedAt: new Date(), source: '127.0.0.1' }
    const forged = { ...webhook, headers: {}, body: Buffer.from('{}'), reason: 'signature_wrong' as const }
    await keepQuarantined(console.books.db, [forged], { rowsMax: 100, bytesMax: 1_000_000 })
    kim = await console.joined('kim', 'operator,administrator,accountant')
  }, 60_000)
  afterAll(async () => {
    await kim[Symbol.asyncDispose]()
    await console[Symbol.asyncDispose]()
  })

  test('a list is filtered, and all of it is assigned and commented on', async () => {
    const { page } = kim
    await page.goto(`${console.url}/mismatches`)
    await typeInto('Status', 'all')
    await press('Show')
    await page.waitForURL(/status=all/)
    await page.goto(`${console.url}/mismatches`)
    await press('Assign all')
    await page.getByRole('status').waitFor()
    await typeInto('Comment', 'all of one cause')
    await press('Comment on all')
    await page.getByRole('status').filter({ hasText: 'commented' }).waitFor()
    await press('Snooze all')
    await page.getByText('No mismatches.').waitFor()
    await page.goto(`${console.url}/mismatches?status=snoozed`)
    expect(await page.locator('tbody tr').count()).toBeGreaterThan(0)
  })

  test('a case is snoozed, which is undone, and gets a file', async () => {
    const { page } = kim
    await page.goto(`${console.url}/mismatches/1`)
    await page.getByText('What each source says of the payment and its delivery').waitFor()
    await press('End the snooze')
    await typeInto('How long', 'for 1 day')
    await press('Snooze')
    await page.getByRole('status').filter({ hasText: 'snoozed' }).waitFor()
    await press('Undo')
    await page.getByRole('status').filter({ hasText: 'undone' }).waitFor()
    const chosen = page.waitForEvent('filechooser')
    await tabTo(page.locator('input[type=file]'))
    await page.keyboard.press('Enter')
    await (await chosen).setFiles({ name: 'answer.txt', mimeType: 'text/plain', buffer: Buffer.from('paid') })
    await press('Attach')
    await page.getByRole('link', { name: 'answer.txt' }).waitFor()
  })

  test('webhooks are retried, the doctor runs, the books are exported, and the person signs out', async () => {
    const { page, faults } = kim
    await page.goto(`${console.url}/webhooks`)
    await press('Retry all')
    await page.getByRole('heading', { name: 'Retried' }).waitFor()
    await page.goto(`${console.url}/doctor`)
    await press('Check now')
    await page.getByText('As of').waitFor()
    await page.goto(`${console.url}/ledger`)
    const download = page.waitForEvent('download')
    await press('Download')
    expect((await download).suggestedFilename()).toMatch(/\.zip$/)
    await page.goto(`${console.url}/you`)
    await press('Sign out')
    await page.waitForURL(/sign-in/)
    expect(faults).toEqual([])
  })
})
