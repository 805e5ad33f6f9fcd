import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { composeConsole } from '../../src/app/console.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { createMetrics } from '../../src/ops/metrics.ts'
import { startOps } from '../../src/ops/server.ts'
import type { Books } from './books.ts'
import { gaugesOf } from './books-console.ts'
import { openBrowser, openVisitor, type Visitor } from './browser.ts'
import { type Ran, runCommand } from './command.ts'
import { openExampleBooks } from './example-books.ts'
import { madeUpNetworks, settingsEnvironment } from './judging-environment.ts'
import { makeFolder } from './make-folder.ts'
import { addPeople, signers, signingKeys } from './people.ts'
import { eventsKey } from './sent-events.ts'

const node = { network: 'base', node: 'node.example', score: 0.98, requests: 1200, errors: 3 }

export type SentForm = { fields: Record<string, string>; headers?: Record<string, string> }

export type PeopleConsole = AsyncDisposable & {
  url: string
  books: Books
  asErin: (line: string) => Promise<Ran>
  /** `config` is a folder of the user of the command line. */
  withoutKey: (line: string, config?: string, seen?: (error: string) => void) => Promise<Ran>
  /** At their own browser, not signed in. */
  visitor: (timezone?: string) => Promise<Visitor>
  /** Signed in, by a passkey that they made and erin confirmed. */
  joined: (name: string, roles: string) => Promise<Visitor>
  /** By erin. @returns the number of the decision */
  requestJournal: (reference: string) => Promise<string>
  /** A form, sent with the cookies of this person as another program would. */
  sent: (visitor: Visitor, path: string, form: SentForm) => Promise<{ status: number; text: string }>
}

/**
 * The console of the example books, in Chromium; erin is administrator, and max approver.
 * @param signIn section of the settings file for the console at this address
 * @param hasPeople false for a register without people
 */
export async function openPeopleConsole(
  signIn: (url: string) => Promise<string> = () => Promise.resolve(''),
  hasPeople = true,
): Promise<PeopleConsole> {
  await using opening = new AsyncDisposableStack()
  const books = opening.use(await openExampleBooks())
  if (hasPeople) await addPeople(books.owner)
  const folder = makeFolder('depositd-people-')
  opening.defer(() => rmSync(folder, { recursive: true }))
  const ops = await startOps({ host: '127.0.0.1', port: 0, metrics: createMetrics('test') })
  opening.defer(() => ops.stop())
  const url = ops.url.replace('127.0.0.1', 'localhost')
  const text = `${madeUpNetworks}accounts: { own: ['assets:bank:main'] }\nevents: { allowPrivate: true }\n${await signIn(url)}`
  const environment = {
    ...settingsEnvironment(books.url, folder, text),
    ...(hasPeople && { ADMINISTRATOR_KEY: signers.erin.key }),
    OPENID_CLIENT_SECRET: 'a secret of the test',
    EVENTS_KEY: eventsKey.toString('base64'),
  }
  const settings = parseSettings(environment, () => text)
  const shown = composeConsole(settings, {
    version: 'test',
    services: { names: () => ['default'], followed: () => settings },
    ops,
    gauges: { ...gaugesOf(books.db, settings), nodes: () => Promise.resolve([node]) },
    readiness: { checks: [databaseCheck], isNeeded: () => true },
  })
  ops.open(opening.use(shown))
  const browser = await openBrowser()
  opening.defer(() => browser.close())
  const ofConsole = { ...environment, OPS_PORT: new URL(url).port }
  const asErin = (line: string) => runCommand(line, { ...ofConsole, ...signingKeys.erin })
  const visit = (timezone?: string) => openVisitor(browser, timezone)
  const open = opening.move()
  return {
    url,
    books,
    asErin,
    withoutKey: (line, config = folder, seen) =>
      runCommand(line, { ...ofConsole, XDG_CONFIG_HOME: config }, seen),
    visitor: visit,
    async joined(name, roles) {
      const visitor = await visit()
      await makePasskey(visitor, { asErin, name, roles })
      await visitor.page.goto(`${url}/sign-in`)
      await visitor.page.getByRole('button', { name: 'Sign in with a passkey' }).click()
      await visitor.page.waitForURL(`${url}/`)
      return visitor
    },
    requestJournal: (reference) => requestJournal(asErin, folder, reference),
    async sent({ context }, path, { fields, headers = {} }) {
      const options = { form: fields, headers: { accept: 'text/plain', ...headers }, maxRedirects: 0 }
      const response = await context.request.post(url + path, options)
      return { status: response.status(), text: await response.text() }
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

const databaseCheck = {
  part: 'database',
  ask: () => Promise.resolve([{ part: 'database', state: 'fine' as const, says: '' }]),
}

type Joining = { asErin: PeopleConsole['asErin']; name: string; roles: string }

async function makePasskey({ page }: Visitor, { asErin, name, roles }: Joining): Promise<void> {
  const invited = await asErin(`people invite ${name} --roles ${roles}`)
  const [link = ''] = /http:\S+/.exec(invited.out) ?? []
  await page.goto(link)
  await page.getByRole('button', { name: 'Make a passkey' }).click()
  const code = await page.locator('.code').textContent()
  expect((await asErin(`people invite ${name}`)).err).toContain(`Is it ${code}?`)
  expect(await asErin(`people invite ${name} --yes`)).toMatchObject({ status: 0, err: '' })
}

async function requestJournal(
  asErin: PeopleConsole['asErin'],
  folder: string,
  reference: string,
): Promise<string> {
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

/** Of the page that they see. */
export function formTokenOf({ page }: Visitor): Promise<string> {
  return page.locator('input[name=form]').first().inputValue()
}
