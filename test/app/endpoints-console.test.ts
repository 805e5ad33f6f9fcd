import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { numberEvents } from '../../src/store/events.ts'
import { listAudit } from '../../src/store/sessions.ts'
import { browserInstalled, type Visitor } from '../support/browser.ts'
import { type EventReceiver, openEventReceiver } from '../support/event-receiver.ts'
import { formTokenOf, openPeopleConsole, type PeopleConsole } from '../support/people-console.ts'
import { type SentEvents, sendEvents } from '../support/sent-events.ts'

let console: PeopleConsole
let ada: Visitor
let receiver: EventReceiver
let sending: SentEvents
let status = 204
const stack = new AsyncDisposableStack()

const press = (label: string) => ada.page.getByRole('button', { name: label, exact: true }).click()
const main = () => ada.page.locator('main').innerText()
const factOf = (name: string) => ada.page.locator('.facts div', { hasText: name }).first().innerText()

async function add({ services }: { services: string }): Promise<void> {
  const { page } = ada
  await page.getByLabel('Name').fill('shop')
  await page.getByLabel('URL').fill(receiver.url)
  await page.getByLabel('deposit.observed').check()
  await page.getByLabel('Services').fill(services)
  await press('Add the endpoint')
}

describe.skipIf(!browserInstalled())('event endpoints at their pages, in Chromium', () => {
  beforeAll(async () => {
    console = stack.use(await openPeopleConsole())
    receiver = stack.use(await openEventReceiver(() => status))
    sending = stack.use(sendEvents(console.books))
    await numberEvents(console.books.db)
    ada = stack.use(await console.joined('ada', 'administrator'))
    ada.page.setDefaultTimeout(5000)
  }, 120_000)
  afterAll(() => stack.disposeAsync())

  test('one is added by an administrator, and its secret is shown once', async () => {
    const { page, faults } = ada
    await page.goto(`${console.url}/services`)
    await page.getByRole('link', { name: 'Event endpoints' }).click()
    await page.getByText('No endpoints yet.').waitFor()
    await add({ services: 'acme' })
    await page.getByText('there is no service "acme": use default').waitFor()
    faults.length = 0
    await page.goto(`${console.url}/endpoints`)
    await add({ services: 'default' })
    const secret = await page.locator('main pre').innerText()
    expect(secret).toMatch(/^whsec_[\w+/=]+$/)
    await page.getByRole('link', { name: 'shop' }).click()
    expect(await main()).toContain('No attempts yet.')
    expect(await page.content()).not.toContain(secret)
    await page.goto(`${console.url}/endpoints`)
    const row = await page.getByRole('row', { name: /shop/ }).innerText()
    expect(row).toMatch(/active.*deposit\.observed\s+default\s+all$/s)
  })

  test('it is tested, and its deliveries and failures are shown', async () => {
    const { page } = ada
    await page.goto(`${console.url}/endpoints/shop`)
    await press('Send a test event')
    await page.getByRole('row', { name: /endpoint\.test.* 204/ }).waitFor()
    await sending.happen(1)
    await sending.deliver()
    status = 500
    await sending.happen(2)
    await sending.deliver()
    await page.reload()
    const [failed, delivered] = await page.locator('tbody tr').allInnerTexts()
    expect(delivered).toMatch(/deposit\.observed\s+\d+\s+1\s+204\s+\d+$/)
    expect(failed).toMatch(/deposit\.observed\s+\d+\s+2\s+500\s+refused\s+\d+$/)
    expect(await factOf('failures')).toMatch(/1 since \d{4}-/)
    expect(await factOf('behind')).toMatch(/1, since \d{4}-/)
    await page.goto(`${console.url}/endpoints/shop?before=2`)
    expect(await page.locator('tbody tr').count()).toBe(1)
  })

  test('it is paused, edited, resumed and replayed', async () => {
    const { page } = ada
    await page.goto(`${console.url}/endpoints/shop`)
    await press('Pause')
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    expect(await factOf('state')).toMatch(/paused since .*: by an administrator/)
    await page.getByLabel('Payload').selectOption('thin')
    await page.getByLabel('deposit.observed').uncheck()
    await press('Save')
    expect(await factOf('payload')).toContain('thin')
    expect(await factOf('types')).toContain('all')
    status = 204
    await press('Resume')
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await sending.deliver()
    const { id, sequence } = receiver.received.at(-1) ?? {}
    await page.getByLabel('From sequence').fill(`${sequence}`)
    await press('Replay')
    await page.waitForLoadState()
    await sending.deliver()
    expect(receiver.received.at(-1)).toMatchObject({ id, body: expect.not.stringContaining('"data"') })
    await page.getByLabel('Since').fill('yesterday')
    await press('Replay')
    await page.getByText('give a day or a time, like 2026-11-20').waitFor()
  })

  test('its secret is rotated, and it is removed by its name', async () => {
    const { page } = ada
    await page.goto(`${console.url}/endpoints/shop`)
    await page.getByLabel('Signature').selectOption('ed25519')
    await page.getByLabel('The secret before signs too').selectOption('1 hour')
    await press('Make a new secret')
    const key = await page.locator('main pre').innerText()
    expect(key).toMatch(/^whpk_/)
    await page.getByRole('link', { name: 'shop' }).click()
    expect(await factOf('secrets')).toMatch(
      new RegExp(`2: v1a ${key.replaceAll('+', '\\+')}\\s+1: v1 , until`),
    )
    await page.getByLabel('Write shop to remove it').fill('ship')
    await press('Remove')
    await page.getByText('write the name shop to remove it').waitFor()
    await page.goto(`${console.url}/endpoints/shop`)
    await page.getByLabel('Write shop to remove it').fill('shop')
    await press('Remove')
    await page.getByText('No endpoints yet.').waitFor()
    expect((await page.goto(`${console.url}/endpoints/shop`))?.status()).toBe(404)
    const log = { person: 'ada', action: null, after: null, limit: 50 }
    const entries = await listAudit(console.books.owner, log)
    const acts = entries.flatMap(({ action, detail }) => (action.startsWith('endpoint_') ? [detail] : []))
    expect(acts).toEqual([
      'shop',
      'shop: secret rotated',
      `shop: replayed from ${receiver.received.at(-1)?.sequence}`,
      'shop: resumed',
      `shop: ${receiver.url}; thin; services default`,
      'shop: paused',
      'shop: test event sent',
      `shop: ${receiver.url}; full; types deposit.observed; services default`,
    ])
  })

  test('operators and auditors see them, others do not, and only administrators change them', async () => {
    await console.asErin(`events endpoint create till --url ${receiver.url}`)
    for (const [name, role] of [
      ['noa', 'auditor'],
      ['lea', 'operator'],
    ] as const) {
      await using visitor = await console.joined(name, role)
      await visitor.page.goto(`${console.url}/endpoints/till`)
      await visitor.page.getByRole('heading', { name: 'Event endpoint till' }).waitFor()
      expect(await visitor.page.getByRole('button', { name: 'Pause' }).count()).toBe(0)
      await visitor.page.goto(`${console.url}/you`)
      const form = await formTokenOf(visitor)
      for (const path of ['/endpoints', '/endpoints/till'])
        expect(await console.sent(visitor, path, { fields: { form, action: 'pause' } })).toEqual({
          status: 403,
          text: `to change event endpoints, ${name} needs the role administrator\n`,
        })
    }
    await using mia = await console.joined('mia', 'approver,accountant,viewer')
    for (const path of ['/endpoints', '/endpoints/till'])
      expect((await mia.page.goto(console.url + path))?.status()).toBe(403)
    await using visitor = await console.visitor()
    expect((await visitor.page.goto(`${console.url}/endpoints`))?.status()).toBe(401)
  })
})
