import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { composeConsole } from '../../src/app/console.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { decisionsCheck } from '../../src/jobs/people/check-decisions.ts'
import { createMetrics } from '../../src/ops/metrics.ts'
import { startOps } from '../../src/ops/server.ts'
import type { Books } from '../support/books.ts'
import { browserInstalled, openBrowser, openVisitor, type Visitor } from '../support/browser.ts'
import { runCommand } from '../support/command.ts'
import { openExampleBooks } from '../support/example-books.ts'
import { temporaryFolderOfFile } from '../support/folder.ts'
import { madeUpNetworks, settingsEnvironment } from '../support/judging-environment.ts'
import { emptyReading, readAs } from '../support/ops-server.ts'
import { addPeople, signers, signingKeys } from '../support/people.ts'

const folder = temporaryFolderOfFile()
const stack = new AsyncDisposableStack()
let books: Books
let browser: Browser
let environment: Record<string, string>
let url: string

beforeAll(async () => {
  books = stack.use(await openExampleBooks())
  await addPeople(books.owner)
  const text = `${madeUpNetworks}accounts: { own: ['assets:bank:main'] }`
  environment = {
    ...settingsEnvironment(books.url, folder, text),
    ADMINISTRATOR_KEY: signers.erin.key,
  }
  const settings = parseSettings(environment, () => text)
  const ops = await startOps({ host: '127.0.0.1', port: 0, metrics: createMetrics('test') })
  stack.defer(() => ops.stop())
  url = ops.url.replace('127.0.0.1', 'localhost')
  environment.OPS_PORT = new URL(url).port
  const shown = composeConsole(settings, {
    version: 'test',
    services: { names: () => ['default'], followed: () => settings },
    ops,
    gauges: { read: readAs(emptyReading) },
    readiness: { checks: [], isNeeded: () => true },
  })
  ops.open(stack.use(shown))
  if (!browserInstalled()) return
  browser = await openBrowser()
  stack.defer(() => browser.close())
}, 60_000)
afterAll(() => stack.disposeAsync())

const asErin = (line: string) => runCommand(line, { ...environment, ...signingKeys.erin })

/** By a passkey that they make and erin confirms. */
async function joined(name: string, roles: string): Promise<Visitor> {
  const visitor = await openVisitor(browser)
  const { page } = visitor
  const invited = await asErin(`people invite ${name} --roles ${roles}`)
  const [link = ''] = /http:\S+/.exec(invited.out) ?? []
  await page.goto(link)
  await page.getByRole('button', { name: 'Make a passkey' }).click()
  const code = await page.locator('.code').textContent()
  const unsure = await asErin(`people invite ${name}`)
  expect(unsure.err).toContain(`Is it ${code}?`)
  expect(await asErin(`people invite ${name} --yes`)).toMatchObject({ status: 0, err: '' })
  await page.goto(`${url}/sign-in`)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.waitForURL(`${url}/`)
  return visitor
}

async function requestJournal(reference: string): Promise<string> {
  const path = join(folder, 'journal.yaml')
  writeFileSync(
    path,
    `
date: 2026-01-03
reason: The service paid what it owed
reference: ${reference}
lines:
  - { debit: assets:bank:main, credit: assets:receivable:service, asset: base/USDC, amount: "7.50" }
`,
  )
  const { out, err } = await asErin(`ledger journal add ${path}`)
  const [, id = err] = /^decision (\d+) is requested/.exec(out) ?? []
  return id
}

/** The form of the page, sent as another program would. */
async function sent(
  { context }: Visitor,
  path: string,
  { fields, headers = {} }: { fields: Record<string, string>; headers?: Record<string, string> },
): Promise<{ status: number; text: string }> {
  const response = await context.request.post(url + path, {
    form: fields,
    headers: { accept: 'text/plain', ...headers },
    maxRedirects: 0,
  })
  return { status: response.status(), text: await response.text() }
}

const formTokenOf = ({ page }: Visitor) => page.locator('input[name=form]').first().inputValue()

describe.skipIf(!browserInstalled())('the console of people, in Chromium', () => {
  test('a person makes a passkey, signs in, and approves by it what another requested', async () => {
    await using sam = await joined('sam', 'approver,operator')
    const { page, faults } = sam
    const id = await requestJournal('by-passkey')
    await page.goto(`${url}/decisions?state=waiting`)
    await page.getByRole('link', { name: id, exact: true }).click()
    expect(await page.locator('main').innerText()).toContain('7.500000')
    await page.getByRole('button', { name: 'Approve and sign' }).click()
    await page.getByText('done', { exact: true }).waitFor()
    expect(await decisionsCheck(signers.erin.key).run(books.owner, () => undefined)).toMatchObject({
      findings: [],
    })
    expect(faults).toEqual([])
  })

  test('nobody approves their own decision, and a signature is of one decision', async () => {
    await using tom = await joined('tom', 'approver,accountant')
    const { page } = tom
    const [first, second] = [await requestJournal('replay-1'), await requestJournal('replay-2')]
    await page.goto(`${url}/decisions/${first}`)
    const form = await formTokenOf(tom)
    const posted = page.waitForRequest((request) => request.method() === 'POST')
    await page.getByRole('button', { name: 'Approve and sign' }).click()
    const { passkey = '' } = (await posted).postDataJSON() as Record<string, string>
    await page.getByText('done', { exact: true }).waitFor()
    const replayed = await sent(tom, `/decisions/${second}/approve`, { fields: { form, passkey } })
    expect(replayed).toMatchObject({ status: 403, text: expect.stringContaining('not of this text') })
    const again = await sent(tom, `/decisions/${first}/approve`, { fields: { form, passkey } })
    expect(again).toMatchObject({ status: 409, text: expect.stringContaining(`decision ${first} is done`) })
    const rejected = await sent(tom, `/decisions/${second}/reject`, { fields: { form, reason: 'twice' } })
    expect(rejected.status).toBe(303)
    expect((await asErin(`decisions show ${second}`)).out).toContain('rejected by tom')
  })

  test('a viewer changes nothing, whatever they send', async () => {
    await using vera = await joined('vera', 'viewer')
    const { page } = vera
    const id = await requestJournal('escalated')
    await page.goto(`${url}/decisions/${id}`)
    expect(await page.getByRole('button', { name: 'Approve and sign' }).count()).toBe(0)
    const form = await formTokenOf(vera)
    await page.goto(`${url}/mismatches/1`)
    expect(await page.getByRole('button', { name: 'Comment' }).count()).toBe(0)
    const comment = { form, action: 'commented', text: 'mine' }
    expect(await sent(vera, '/mismatches/1', { fields: comment })).toMatchObject({ status: 403 })
    expect(await sent(vera, `/decisions/${id}/reject`, { fields: { form, reason: 'no' } })).toMatchObject({
      status: 409,
      text: expect.stringContaining('vera is no approver'),
    })
  })

  test('an operator works on a case; other sites, and who stole an ended session, do not', async () => {
    await using olga = await joined('olga', 'operator')
    const { page, context } = olga
    await page.goto(`${url}/mismatches/1`)
    await page.getByRole('button', { name: 'Assign to me' }).click()
    await page.getByRole('button', { name: 'Give it back' }).waitFor()
    await page.getByLabel('Comment').fill('wrote to the service')
    await page.getByRole('button', { name: 'Comment' }).click()
    await page.getByText('wrote to the service').waitFor()
    const form = await formTokenOf(olga)
    const comment = { form, action: 'commented', text: 'forged' }
    const path = '/mismatches/1'
    const foreign = { 'sec-fetch-site': 'cross-site' }
    expect(await sent(olga, path, { fields: comment, headers: foreign })).toMatchObject({ status: 403 })
    expect(await sent(olga, path, { fields: { ...comment, form: 'x' } })).toMatchObject({ status: 403 })
    const [cookie] = await context.cookies()
    expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Lax', path: '/' })
    expect(cookie?.name).toMatch(/^__Host-/)
    await page.goto(`${url}/you`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(`${url}/sign-in`)
    await context.clearCookies()
    await context.addCookies(cookie === undefined ? [] : [cookie])
    expect(await sent(olga, path, { fields: comment })).toMatchObject({ status: 401 })
  })

  test('sessions end with an administrator, and with the removal of the person', async () => {
    await using uma = await joined('uma', 'operator')
    const { page } = uma
    expect((await asErin('people sign-out uma')).out).toBe('1 sessions of uma are ended\n')
    await page.goto(url)
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByRole('link', { name: 'uma' }).waitFor()
    await asErin('people remove uma')
    await page.goto(url)
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByText('no person of the register has this passkey').waitFor()
  })

  const looks = [
    { colorScheme: 'light', width: 1280 },
    { colorScheme: 'dark', width: 390 },
  ] as const

  test('every page is for everybody: by rules of accessibility, at a desk in light and on a phone in dark', async () => {
    await using ada = await joined('ada', 'operator,approver,accountant')
    const { page, faults } = ada
    const id = await requestJournal('accessible')
    const paths = [
      '/',
      '/mismatches',
      '/mismatches/1',
      '/deposits',
      '/deposits/1',
      '/ledger',
      '/decisions',
      `/decisions/${id}`,
      '/you',
      '/sign-in',
      '/nothing',
    ]
    const problems: string[] = []
    for (const { colorScheme, width } of looks) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 800 })
      for (const path of paths) {
        await page.goto(url + path)
        const { violations } = await new AxeBuilder({ page }).analyze()
        const wider = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
        problems.push(
          ...violations.map(
            ({ id: rule, nodes }) => `${path} ${colorScheme} ${width}: ${rule} ${nodes[0]?.html}`,
          ),
          ...(wider > 0 ? [`${path} ${width}: ${wider} px too wide`] : []),
        )
      }
    }
    expect({ problems, faults: faults.filter((fault) => !fault.includes('404')) }).toEqual({
      problems: [],
      faults: [],
    })
  }, 120_000)

  test('sign-ins are limited per client', async () => {
    const statuses = new Set<number>()
    for (let count = 0; count < 130; count++) statuses.add((await fetch(`${url}/sign-in`)).status)
    expect(statuses).toEqual(new Set([200, 429]))
    expect((await fetch(url)).status).toBe(200)
  })
})
