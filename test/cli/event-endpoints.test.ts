import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listAudit } from '../../src/store/sessions.ts'
import { type Books, openBooks } from '../support/books.ts'
import { runCommand } from '../support/command.ts'
import { openEventReceiver } from '../support/event-receiver.ts'
import { judgingEnvironment } from '../support/judging-environment.ts'
import { makeFolder } from '../support/make-folder.ts'
import { addPeople, signingKeys } from '../support/people.ts'
import { eventsKey, sendEvents } from '../support/sent-events.ts'

let books: Books
let config: string
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  books = stack.use(await openBooks())
  await addPeople(books.owner)
  config = join(makeFolder('depositd-events-'), 'settings.yaml')
  writeFileSync(config, 'events: { allowPrivate: true }\n')
})
afterAll(() => stack.disposeAsync())

type Person = keyof typeof signingKeys

const run = (line: string, person: Person = 'erin', more: Record<string, string> = {}) =>
  runCommand(
    `events endpoint ${line}`,
    judgingEnvironment(books.url, {
      EVENTS_KEY: eventsKey.toString('base64'),
      DEPOSITD_CONFIG: config,
      ...signingKeys[person],
      ...more,
    }),
  )

async function audit(): Promise<string[]> {
  const entries = await listAudit(books.owner, { person: 'erin', action: null, after: null, limit: 50 })
  return entries.flatMap(({ action, detail }) =>
    action.startsWith('endpoint_') ? [`${action} ${detail}`] : [],
  )
}

test('an endpoint is made, tested, shown, paused, resumed, replayed, rotated and removed by an administrator', async () => {
  const { url, received } = stack.use(await openEventReceiver())
  const made = await run(`create shop --url ${url} --types deposit.observed`)
  expect(made).toMatchObject({ status: 0, out: expect.stringMatching(/^whsec_[\w+/=]+\n$/) })
  expect((await run(`create shop --url ${url}`)).err).toContain('an endpoint with the name shop exists')
  const tested = await run('test shop')
  expect(tested).toMatchObject({
    status: 0,
    out: expect.stringMatching(/^test event [\w-]{36}: 204, \d+ ms\n$/),
  })
  expect(received).toMatchObject([{ deposit: undefined }])

  const sending = stack.use(sendEvents(books))
  await sending.happen(1, 1)
  await sending.deliver()
  expect(received).toHaveLength(3)
  expect(await run('pause shop')).toMatchObject({ out: 'endpoint shop is paused\n' })
  expect(await run('replay shop --from 1')).toMatchObject({ out: 'endpoint shop: next is event 1\n' })
  expect(await run('resume shop')).toMatchObject({ out: 'endpoint shop is active; next is event 1\n' })
  await sending.deliver()
  expect(received).toHaveLength(5)

  const edited = await run('edit shop --types all --payload thin --services default')
  expect(edited.out).toMatch(/ thin {5}all +default +all\n$/)
  expect((await run('edit shop')).err).toContain('nothing is changed')

  const rotated = await run('rotate shop --signature ed25519')
  expect(rotated.out).toMatch(/^whpk_[\w+/=]{44}\n$/)
  const shown = await run('show shop')
  expect(shown.out).toContain(`secret 2: v1a ${rotated.out.trim()}\nsecret 1: v1, until `)
  expect(shown.out).toMatch(/ deposit\.observed +2 +1 +204 /)
  const [item] = JSON.parse((await run('list --json')).out).items as object[]
  expect(item).toMatchObject({ name: 'shop', delivered: '2', behind: '0', waiting: 0, types: null })
  for (const { out } of [shown, await run('list'), await run('list --json'), await run('show shop --json')])
    expect(out).not.toContain(made.out.trim())

  expect(await run('remove shop')).toMatchObject({ status: 0 })
  expect((await run('show shop')).err).toContain('not found')
  expect(await audit()).toEqual([
    'endpoint_removed shop',
    'endpoint_changed shop: secret rotated',
    `endpoint_changed shop: ${url}; thin; services default`,
    'endpoint_changed shop: resumed',
    'endpoint_changed shop: replayed from 1',
    'endpoint_changed shop: paused',
    'endpoint_changed shop: test event sent',
    `endpoint_created shop: ${url}; full; types deposit.observed`,
  ])
})

test('a test that is refused is bad news', async () => {
  const { url } = stack.use(await openEventReceiver(() => 500))
  await run(`create refusing --url ${url}`)
  expect(await run('test refusing')).toMatchObject({ status: 1, out: expect.stringContaining(': 500, ') })
})

test('others may not, and what cannot work is refused', async () => {
  const command = 'create other --url https://shop.example/events'
  expect((await run(command, 'max')).err).toContain('administrator')
  for (const act of ['pause', 'resume', 'rotate', 'remove', 'test', 'replay --from 1', 'edit --payload thin'])
    expect((await run(`${act} refusing`, 'max')).err).toContain('administrator')
  const wrong = {
    '--types deposit.safe': 'use deposit.observed',
    '--services acme': 'there is no service "acme"',
    '--owners shup': 'did you mean shop',
    '--payload fat': 'use thin, full',
  }
  for (const [words, problem] of Object.entries(wrong))
    expect((await run(`${command} ${words}`)).err).toContain(problem)
  expect((await run('create Other --url https://shop.example')).err).toContain('lower-case')
  expect((await run('create other --url https://u:p@shop.example')).err).toContain('must not contain a user')
  expect((await run('replay refusing')).err).toContain('give --from or --since')
  writeFileSync(config, '{}\n')
  expect((await run('create other --url http://10.0.0.1/')).err).toContain('events.allowPrivate')
  expect((await run(command, 'erin', { EVENTS_KEY: 'short' })).err).toContain('openssl rand -base64 32')
})
