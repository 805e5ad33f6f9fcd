import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserInstalled, type Visitor } from '../support/browser.ts'
import { formTokenOf, openPeopleConsole, type PeopleConsole } from '../support/people-console.ts'

let console: PeopleConsole
let ines: Visitor

/** To one that is erin's. */
async function goToAny(): Promise<string> {
  await ines.page.goto(`${console.url}/mismatches?assigned=erin`)
  const link = ines.page.locator('tbody tr a').first()
  const id = (await link.textContent()) ?? ''
  await link.click()
  await ines.page.getByRole('button', { name: 'Snooze' }).waitFor()
  return id
}

describe.skipIf(!browserInstalled())('work on cases, in Chromium', () => {
  beforeAll(async () => {
    console = await openPeopleConsole()
    ines = await console.joined('ines', 'operator')
  }, 60_000)
  afterAll(async () => {
    await ines[Symbol.asyncDispose]()
    await console[Symbol.asyncDispose]()
  })

  test('a case and a list are assigned to others of the register, and to no one else', async () => {
    const { page, faults } = ines
    await page.goto(`${console.url}/mismatches/1`)
    const to = page.getByLabel('Assign to')
    expect(await to.locator('option').allTextContents()).toEqual(['me', 'erin', 'max', 'no one'])
    await to.selectOption('max')
    await page.getByRole('button', { name: 'Assign', exact: true }).click()
    await page.getByRole('row', { name: /ines assigned .*max/ }).waitFor()
    expect(await page.getByRole('button', { name: 'Give it back' }).count()).toBe(0)
    await page.goto(`${console.url}/mismatches?assigned=nobody`)
    await page.getByLabel('Assign to').last().selectOption('erin')
    await page.getByRole('button', { name: 'Assign all' }).click()
    await page.getByText('No mismatches.').waitFor()
    await page.goto(`${console.url}/mismatches?assigned=max`)
    expect(await page.locator('tbody tr').count()).toBe(1)
    const form = await formTokenOf(ines)
    const fields = { form, action: 'assign', to: 'zoe' }
    expect(await console.sent(ines, '/mismatches/1', { fields })).toMatchObject({ status: 400 })
    expect(faults).toEqual([])
  })

  test('what was just done is undone from the page that says so, of one case and of a list', async () => {
    const { page, faults } = ines
    const done = page.getByRole('status')
    const undo = page.getByRole('button', { name: 'Undo' })
    const id = await goToAny()
    await page.getByLabel('How long').selectOption('for 1 day')
    await page.getByRole('button', { name: 'Snooze' }).click()
    expect(await done.textContent()).toBe(`Mismatch ${id}: snoozed.`)
    await undo.click()
    await page.getByText(`Mismatch ${id}: undone.`).waitFor()
    expect(await undo.count()).toBe(0)
    await page.getByRole('row', { name: /ines snoozed undo/ }).waitFor()
    await page.goto(`${console.url}/mismatches?assigned=erin`)
    const rows = await page.locator('tbody tr').count()
    expect(rows).toBeGreaterThan(1)
    await page.getByLabel('Assign to').last().selectOption('me')
    await page.getByRole('button', { name: 'Assign all' }).click()
    expect(await done.textContent()).toBe(`${rows} mismatches: assigned to ines.`)
    expect(await page.locator('tbody tr').count()).toBe(0)
    await undo.click()
    await page.getByText(`${rows} mismatches: undone.`).waitFor()
    expect(await page.locator('tbody tr').count()).toBe(rows)
    expect(faults).toEqual([])
  })

  test('a person sees the comments that name them, until they are withdrawn', async () => {
    await using mia = await console.joined('Mia', 'operator')
    await mia.page.goto(`${console.url}/mismatches/mentions`)
    await mia.page.getByText('No comment names you.').waitFor()
    const { page } = ines
    const id = await goToAny()
    await page.getByLabel('Comment').fill('@mia, look: @zoe and me@mia.example know nothing')
    await page.getByRole('button', { name: 'Comment' }).click()
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    await mia.page.getByRole('link', { name: 'Mentions' }).click()
    const row = mia.page.getByRole('row', { name: 'look: @zoe' })
    expect((await row.getByRole('cell').allTextContents()).toSpliced(4, 1)).toEqual([
      id,
      'severe',
      expect.any(String),
      'open',
      'ines',
      '@mia, look: @zoe and me@mia.example know nothing',
    ])
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('row', { name: /comment withdrawn/ }).waitFor()
    await mia.page.reload()
    await mia.page.getByText('No comment names you.').waitFor()
    expect([...ines.faults, ...mia.faults]).toEqual([])
  })

  test('no one else is offered an undo, and what changed since stays', async () => {
    const { page } = ines
    const id = await goToAny()
    await page.getByRole('button', { name: 'Assign', exact: true }).click()
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    const [url, form] = [page.url(), await formTokenOf(ines)]
    const event = await page.locator('input[name=event]').inputValue()
    await using olga = await console.joined('olga', 'operator')
    await olga.page.goto(url)
    expect(await olga.page.getByRole('button', { name: 'Undo' }).count()).toBe(0)
    const stolen = { form: await formTokenOf(olga), event }
    expect(await console.sent(olga, '/mismatches/undo', { fields: stolen })).toMatchObject({ status: 409 })
    await olga.page.getByRole('button', { name: 'Assign', exact: true }).click()
    await olga.page.getByRole('button', { name: 'Undo' }).waitFor()
    const late = await console.sent(ines, '/mismatches/undo', { fields: { form, event } })
    expect(late).toMatchObject({
      status: 409,
      text: expect.stringContaining(`mismatch ${id} was changed since`),
    })
  })

  test('a command, a transaction and an address are copied', async () => {
    const { page, context, faults } = ines
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const copied = async (title: RegExp) => {
      const button = page.getByTitle(title).first()
      await button.click()
      await page.getByText('Copied', { exact: true }).waitFor()
      return page.evaluate('navigator.clipboard.readText()')
    }
    await page.goto(`${console.url}/mismatches/1`)
    expect(await copied(/^bin.depositd mismatches assign/)).toBe('bin/depositd mismatches assign 1 NAME')
    await page.goto(`${console.url}/deposits/1`)
    expect(await copied(/^0x/)).toMatch(/^0x[\da-fA-F]{40,64}$/)
    expect(faults).toEqual([])
  })

  test('a case is snoozed until its loss grows, and woken', async () => {
    const { page, faults } = ines
    await page.goto(`${console.url}/mismatches/1`)
    await page.getByLabel('How long').selectOption('until the loss grows')
    await page.getByRole('button', { name: 'Snooze' }).click()
    await page.getByText('until a larger loss', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'End the snooze' }).click()
    await page.getByRole('button', { name: 'Snooze' }).waitFor()
    expect(faults).toEqual([])
  })

  test('a list is kept under a name, for everyone, and removed', async () => {
    const { page, faults } = ines
    await page.goto(`${console.url}/mismatches?severity=severe&kind=&after=`)
    const name = page.getByLabel('Save this view')
    await name.fill('the gravest')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL('**/mismatches?severity=severe')
    await using moe = await console.joined('moe', 'viewer')
    await moe.page.goto(`${console.url}/mismatches`)
    await moe.page.getByRole('link', { name: 'the gravest' }).click()
    await moe.page.waitForURL('**/mismatches?severity=severe')
    expect(await moe.page.locator('.tabs [aria-current]').innerText()).toBe('the gravest')
    await moe.page.goto(`${console.url}/mismatches?severity=info`)
    const form = { form: await formTokenOf(moe), page: 'mismatches', name: 'the gravest' }
    const sent = (filter: string) => console.sent(moe, '/views', { fields: { ...form, filter } })
    expect(await sent('severity=info')).toMatchObject({
      status: 409,
      text: expect.stringContaining('there is a view'),
    })
    expect(await sent('severity=huge')).toMatchObject({ status: 400 })
    await page.getByRole('button', { name: 'Remove the view the gravest' }).click()
    await page.getByLabel('Save this view').waitFor()
    expect(await page.getByRole('link', { name: 'the gravest' }).count()).toBe(0)
    await page.goto(`${console.url}/deposits?state=settled`)
    await page.getByLabel('Save this view').fill('delivered')
    await page.getByRole('button', { name: 'Save' }).click()
    expect(await page.locator('.tabs a').allInnerTexts()).toEqual(['All', 'delivered'])
    expect(faults).toEqual([])
  })
})
