import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Books } from '../support/books.ts'
import { runCommand } from '../support/command.ts'
import { claim, delivery, payment, txId, webhook } from '../support/evidence.ts'
import { temporaryFolder } from '../support/folder.ts'
import { madeUpNetworks, settingsEnvironment } from '../support/judging-environment.ts'
import { acmeAddress, environmentOfTwo, ofAcme, openBooksOfTwo } from '../support/two-services.ts'

let books: Books
let environment: Record<string, string>

/** A reconciled deposit of each service, and an unreported payment to each. */
beforeAll(async () => {
  books = await openBooksOfTwo()
  await books.receive(claim(), webhook(), payment(), delivery())
  const acmePays = payment({ to: acmeAddress, tx: txId('acme pays') })
  await books.receive(claim(ofAcme), webhook(ofAcme), acmePays, delivery({ tx: txId('acme delivers') }))
  await books.receive(payment({ tx: txId('one') }), payment({ to: acmeAddress, tx: txId('two') }))
  await books.settle()
  await sql`update deposit set deposited_at = now()`.execute(books.db)
  await sql`
    insert into quarantine (service, received_at, source, reason, headers, body, size)
    select service, now(), '10.0.0.1', 'signature_wrong', '{}', '', 1
    from unnest(array['default', 'acme']) as service`.execute(books.db)
})
beforeEach(async () => {
  environment = environmentOfTwo(books.url, await temporaryFolder())
})
afterAll(() => books[Symbol.asyncDispose]())

const lists = [
  'deposits list',
  'mismatches list',
  'channels list',
  'webhooks quarantine list',
  'scorecard',
] as const

const servicesIn = async (line: string): Promise<string[]> => {
  const { out } = await runCommand(`${line} --json`, environment)
  const { items } = JSON.parse(out) as { items: { service: string }[] }
  return [...new Set(items.map(({ service }) => service))].toSorted()
}

test.each(lists)('"%s" names the service of each row, and takes only one', async (list) => {
  expect(await servicesIn(list)).toEqual(['acme', 'default'])
  expect(await servicesIn(`${list} --service acme`)).toEqual(['acme'])
  expect(await servicesIn(`${list} --service default`)).toEqual(['default'])
})

test.each([...lists, 'deposits proposals'])('"%s" refuses a service that there is not', async (list) => {
  const { status, err } = await runCommand(`${list} --service acne`, environment)
  expect(status).toBe(2)
  expect(err).toContain('--service is "acne"; did you mean acme? use default, acme')
})

test.each(lists.slice(0, 4))('the table of "%s" has the service only if there are several', async (list) => {
  expect((await runCommand(list, environment)).out).toContain('SERVICE')
  const alone = settingsEnvironment(books.url, await temporaryFolder(), madeUpNetworks)
  expect((await runCommand(list, alone)).out).not.toContain('SERVICE')
})

test('the scorecard has one part for each of several services', async () => {
  const { out } = await runCommand('scorecard', environment)
  expect(out.match(/^service .*$/gm)).toEqual(['service default', 'service acme'])
  const alone = settingsEnvironment(books.url, await temporaryFolder(), madeUpNetworks)
  expect((await runCommand('scorecard', alone)).out).not.toMatch(/^service /m)
})

test('a service that is only known from its deposits can be asked for', async () => {
  const alone = settingsEnvironment(books.url, await temporaryFolder(), madeUpNetworks)
  const { out } = await runCommand('deposits list --service acme', alone)
  expect(out).toContain('acme/shop')
})

test('a deposit and a mismatch name their service', async () => {
  const { out } = await runCommand('deposits show acme/dep_1', environment)
  expect(out).toMatch(/service +acme\n +acme\/dep_1\n/)
  const { out: list } = await runCommand('mismatches list --service acme --json', environment)
  const { items } = JSON.parse(list) as { items: { id: string; cause: object }[] }
  expect(items[0]?.cause).toMatchObject({ service: 'acme', kind: 'unreported' })
  expect((await runCommand(`mismatches show ${items[0]?.id}`, environment)).out).toMatch(/service +acme\n/)
})
