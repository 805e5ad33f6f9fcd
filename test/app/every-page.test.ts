import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../../src/ops/console/routes.ts'
import { browserInstalled, listenToFaults, type Visitor } from '../support/browser.ts'
import { openEventReceiver } from '../support/event-receiver.ts'
import { openPeopleConsole, type PeopleConsole } from '../support/people-console.ts'
import { storeRowsOfPages } from '../support/rows-of-pages.ts'

const looks = [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 1280 },
  { colorScheme: 'dark', width: 390 },
  { colorScheme: 'light', width: 390 },
] as const

/** What is no page: downloads, redirects, and links that count once. */
const others = new Set([
  '/mismatches/:id/dispute',
  '/attachments/:id',
  '/deposits/find',
  '/deposits/:id/evidence',
  '/decisions/:id/text',
  '/sign-in/open-id',
  '/sign-in/open-id/callback',
  '/sign-in/:id',
])

/** Of the processors, one more waits for the server. */
const pagesAtOnce = 3

let console: PeopleConsole
let ada: Visitor
const rows = new AsyncDisposableStack()
/** Of the row that each page with an id shows. */
let ids: Record<string, string>

describe.skipIf(!browserInstalled())('every page, in Chromium', () => {
  beforeAll(async () => {
    console = await openPeopleConsole()
    const { webhook, deposit } = await storeRowsOfPages(console.books)
    ada = await console.joined('ada', 'administrator,operator,approver,accountant,auditor')
    await console.asErin('api token create shop --scopes read_deposits')
    const receiver = rows.use(await openEventReceiver())
    await console.asErin(`events endpoint create shop --url ${receiver.url}`)
    await console.asErin('events endpoint test shop')
    const invited = await console.asErin('people invite bob --roles viewer')
    const [, link = ''] = /invitations\/(\S+)/.exec(invited.out) ?? []
    ids = {
      '/mismatches/:id': '1',
      '/deposits/:id': `${deposit}`,
      '/ledger/journals/:id': '1',
      '/webhooks/:id': `${webhook}`,
      '/endpoints/:id': 'shop',
      '/decisions/:id': await console.requestJournal('seen'),
      '/login/:id': 'a'.repeat(43),
      '/invitations/:id': link,
    }
    await ada.page.goto(`${console.url}/doctor`)
    await ada.page.getByRole('button', { name: 'Check now' }).click()
    await ada.page.getByText('As of').waitFor()
    await ada.page.goto(`${console.url}/mismatches/1`)
    await ada.page.getByLabel('Comment').fill('@ada: ask the service')
    await ada.page.getByRole('button', { name: 'Comment' }).click()
    const file = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') }
    await ada.page.getByLabel('File, at most 5 MB').setInputFiles(file)
    await ada.page.getByRole('button', { name: 'Attach' }).click()
    await ada.page.getByText('a.txt').first().waitFor()
  }, 120_000)
  afterAll(async () => {
    await ada[Symbol.asyncDispose]()
    await console[Symbol.asyncDispose]()
    await rows.disposeAsync()
  })

  test('is for everyone: at a desk and on a phone, in light and in dark', async () => {
    const paths = [...pagePaths(), '/nothing'].values()
    const problems: string[] = []
    const visit = async () => {
      await using page = await ada.context.newPage()
      const faults = listenToFaults(page)
      for (const path of paths) {
        problems.push(...(await problemsOf(page, path)))
        problems.push(
          ...faults
            .splice(0)
            .filter(isOwn)
            .map((fault) => `${path}: ${fault}`),
        )
      }
    }
    await Promise.all(Array.from({ length: pagesAtOnce }, visit))
    expect(problems).toEqual([])
  }, 600_000)
})

/** The page that does not exist is reported too. */
function isOwn(fault: string): boolean {
  return !fault.includes('404')
}

/** Of all routes, so that no new page is forgotten. */
function pagePaths(): string[] {
  const pages = Object.entries(routes).filter(([route, { get }]) => get !== undefined && !others.has(route))
  return pages.map(([route]) => {
    if (route === '/ledger/statement') return '/ledger/statement?owner=shop&from=2026-01-01'
    if (!route.includes(':id')) return route
    const id = ids[route]
    if (id === undefined) throw new Error(`the test has no row for the page ${route}`)
    return route.replace(':id', id)
  })
}

async function problemsOf(page: Page, path: string): Promise<string[]> {
  const answer = await page.goto(console.url + path)
  const status = answer?.status()
  const problems = await page.evaluate<string[]>(problemsOfText)
  if (status !== (path === '/nothing' ? 404 : 200)) problems.push(`${status} ${page.url()}`)
  await page.evaluate(axe.source)
  for (const { colorScheme, width } of looks) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 800 })
    const found = await page.evaluate<string[]>(problemsOfLook)
    problems.push(...found.map((problem) => `${colorScheme} ${width}: ${problem}`))
  }
  return problems.map((problem) => `${path}: ${problem}`)
}

/** Exact times may be in commands, texts that are signed, and the unseen names of tables. Opens what is folded away. */
const problemsOfText = `(() => {
  const problems = []
  if (!/^\\S.* · depositd$/.test(document.title)) problems.push('title ' + document.title)
  const heads = document.querySelectorAll('h1').length
  if (heads !== 1) problems.push(heads + ' h1')
  for (const one of document.querySelectorAll('.empty')) problems.push('no rows: ' + one.textContent)
  for (const one of document.querySelectorAll('details')) one.open = true
  const main = document.querySelector('main').cloneNode(true)
  for (const one of main.querySelectorAll('pre, code, details, caption')) one.remove()
  const [exact] = /.{0,40}\\d\\d\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d.{0,20}/.exec(main.textContent) ?? []
  if (exact !== undefined) problems.push(exact)
  return problems
})()`

const problemsOfLook = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => {
  const problems = violations.map(({ id, nodes }) => id + ' ' + nodes[0].html)
  const wider = document.documentElement.scrollWidth - innerWidth
  return wider > 0 ? [...problems, wider + ' px too wide'] : problems
})`
