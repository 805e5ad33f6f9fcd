import { AxeBuilder } from '@axe-core/playwright'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultService } from '../../src/core/evidence.ts'
import { activateRules } from '../../src/jobs/books/activate-rules.ts'
import { routes } from '../../src/ops/console/routes.ts'
import { keepQuarantined } from '../../src/store/quarantine.ts'
import { browserInstalled, type Visitor } from '../support/browser.ts'
import { openPeopleConsole, type PeopleConsole } from '../support/people-console.ts'
import { seal } from '../support/sealed-books.ts'

/** Colours alone differ between two looks of the same width. */
const looks = [
  { colorScheme: 'light', width: 1280, rules: null },
  { colorScheme: 'dark', width: 1280, rules: 'color-contrast' },
  { colorScheme: 'light', width: 390, rules: 'color-contrast' },
  { colorScheme: 'dark', width: 390, rules: null },
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

let console: PeopleConsole
let ada: Visitor
/** Of the row that each page with an id shows. */
let ids: Record<string, string>

describe.skipIf(!browserInstalled())('every page, in Chromium', () => {
  beforeAll(async () => {
    console = await openPeopleConsole()
    const { books } = console
    await seal(books)
    await activateRules({ db: books.db, rules: books.deps.rules, now: () => new Date() })
    const webhook = { service: defaultService, receivedAt: new Date(), source: '127.0.0.1' }
    const [headers, body] = [{ 'user-agent': 'a sender' }, Buffer.from('{"event":"forged"}')]
    await keepQuarantined(books.db, [{ ...webhook, headers, body, reason: 'signature_wrong' }], {
      rowsMax: 100,
      bytesMax: 1_000_000,
    })
    ada = await console.joined('ada', 'administrator,operator,approver,accountant,auditor')
    const invited = await console.asErin('people invite bob --roles viewer')
    const [, link = ''] = /invitations\/(\S+)/.exec(invited.out) ?? []
    const { rows } = await sql<{ id: bigint }>`select id from quarantine`.execute(books.db)
    ids = {
      '/mismatches/:id': '1',
      '/deposits/:id': '1',
      '/ledger/journals/:id': '1',
      '/webhooks/:id': `${rows[0]?.id}`,
      '/decisions/:id': await console.requestJournal('seen'),
      '/login/:id': 'a'.repeat(43),
      '/invitations/:id': link,
    }
    await ada.page.goto(`${console.url}/doctor`)
    await ada.page.getByRole('button', { name: 'Check now' }).click()
    await ada.page.getByText('As of').waitFor()
  }, 120_000)
  afterAll(async () => {
    await ada[Symbol.asyncDispose]()
    await console[Symbol.asyncDispose]()
  })

  test('is for everyone: at a desk and on a phone, in light and in dark', async () => {
    const { page, faults } = ada
    const problems: string[] = []
    for (const path of [...pagePaths(), '/nothing']) {
      const answer = await page.goto(console.url + path)
      if (answer?.status() !== (path === '/nothing' ? 404 : 200))
        problems.push(`${path}: ${answer?.status()} ${page.url()}`)
      const [exact] = exactTimes.exec(String(await page.evaluate(textOfMain))) ?? []
      if (exact !== undefined) problems.push(`${path}: ${exact}`)
      await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true')
      for (const look of looks) problems.push(...(await problemsOf(path, look)))
    }
    expect({ problems, faults: faults.filter((fault) => !fault.includes('404')) }).toEqual({
      problems: [],
      faults: [],
    })
  }, 240_000)
})

const exactTimes = /.{0,40}\d\d\d\d-\d\d-\d\dT\d\d:\d\d.{0,20}/

/** Without commands, texts that are signed, and the unseen names of tables. */
const textOfMain = `(() => {
  const main = document.querySelector('main').cloneNode(true)
  for (const one of main.querySelectorAll('pre, code, details, caption')) one.remove()
  return main.textContent
})()`

/** Of all routes, so that no new page is forgotten. */
function pagePaths(): string[] {
  const pages = Object.entries(routes).filter(([route, { get }]) => get !== undefined && !others.has(route))
  return pages.map(([route]) => {
    if (!route.includes(':id')) return route
    const id = ids[route]
    if (id === undefined) throw new Error(`the test has no row for the page ${route}`)
    return route.replace(':id', id)
  })
}

async function problemsOf(
  path: string,
  { colorScheme, width, rules }: (typeof looks)[number],
): Promise<string[]> {
  const { page } = ada
  await page.emulateMedia({ colorScheme })
  await page.setViewportSize({ width, height: 800 })
  const axe = new AxeBuilder({ page }).setLegacyMode()
  const { violations } = await (rules === null ? axe : axe.withRules(rules)).analyze()
  const wider = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
  return [
    ...violations.map(({ id, nodes }) => `${path} ${colorScheme} ${width}: ${id} ${nodes[0]?.html}`),
    ...(wider > 0 ? [`${path} ${width}: ${wider} px too wide`] : []),
  ]
}
