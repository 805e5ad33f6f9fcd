import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { numberEvents } from '../../src/store/events.ts'
import type { Books } from '../support/books.ts'
import { runCommand } from '../support/command.ts'
import { spawnProgram } from '../support/embedded-program.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openReadBooks } from '../support/read-api.ts'

let books: Books

beforeAll(async () => {
  books = await openReadBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

const run = (words: string) =>
  runCommand(['events', 'list', ...words.split(' ').filter(Boolean)], { DATABASE_URL: books.url })

async function listed(words: string): Promise<{ items: Record<string, unknown>[]; next: string | null }> {
  const { status, out, err } = await run(`${words} --json`)
  expect([status, err]).toEqual([0, ''])
  return JSON.parse(out)
}

async function add(type: string, data: object): Promise<void> {
  await sql`insert into event_pending (type, data) values (${type}, ${JSON.stringify(data)}::jsonb)`.execute(
    books.db,
  )
  await numberEvents(books.db)
}

test('events are listed in order, from a number on, and filtered', async () => {
  const { items, next } = await listed('')
  expect(items.map(({ sequence }) => sequence)).toEqual(items.map((_event, place) => `${place + 1}`))
  expect(next).toBeNull()
  expect(items[0]).toMatchObject({ type: 'deposit.observed', deposit_id: '1', owner: { id: 'shop' } })
  const page = await listed('--after 3 --limit 2')
  expect([page.items, page.next]).toEqual([items.slice(3, 5), '5'])
  const filters = { '--type mismatch.opened': 'type', '--service acme': 'service' }
  for (const [words, field] of Object.entries(filters))
    expect((await listed(words)).items).toEqual(items.filter((one) => one[field] === words.split(' ')[1]))
  const own = items.filter(({ owner }) => (owner as { id: string } | null)?.id === 'savings')
  expect((await listed('--owner savings')).items).toEqual(own)
})

test('the table says what each is about, and how to go on', async () => {
  const { out } = await run('--type mismatch.opened --limit 1')
  const [header, line, more] = out.split('\n')
  expect(header).toMatch(/^NUMBER +AT +TYPE +DEPOSIT +SERVICE +OWNER +ABOUT$/)
  expect(line).toMatch(/mismatch\.opened +\d+ +default +shop +mismatch \d+, kind \w+$/)
  expect(more).toMatch(/^Showing 1; more follow: .* --after \d+$/)
  expect((await run('--type approval.requested')).out).toBe('no events\n')
})

test('an unknown type, service or owner, and a number that no event has yet, are refused', async () => {
  const wrong = {
    '--type deposit.credit_save': 'did you mean deposit.credit_safe',
    '--service acne': '--service is "acne"',
    '--owner shup': 'did you mean shop',
    '--after 100000': 'the newest event is ',
  }
  for (const [words, problem] of Object.entries(wrong))
    expect(await run(words)).toMatchObject({ status: 2, err: expect.stringContaining(problem) })
})

test.each([
  ['', / approval\.requested .*decision 7, kind close\n.* approval\.requested .*decision 8, kind close\n$/],
  ['--json', /^\{"sequence":"\d+",.*"data":\{"kind":"close","decision":"7"\}\}\n\{.*"decision":"8"\}\}\n$/],
])('with --follow %s, new events are printed as they come, until it is stopped', async (json, printed) => {
  const words = [
    'events',
    'list',
    '--type',
    'approval.requested',
    '--follow',
    ...json.split(' ').filter(Boolean),
  ]
  const { items } = await listed('')
  const program = spawnProgram(await temporaryFolder(), [...words, '--after', `${items.length}`], {
    DATABASE_URL: books.url,
  })
  for (const decision of ['7', '8']) {
    await add('approval.requested', { decision, kind: 'close' })
    await add('seal.published', { size: '1' })
    await expect.poll(program.output, { timeout: 20_000 }).toMatch(new RegExp(`decision[": ]+${decision}`))
  }
  expect(await program.end('SIGTERM')).toBe(0)
  expect(program.output()).toMatch(printed)
  expect(program.output().match(/NUMBER/g)?.length ?? 0).toBe(json === '' ? 1 : 0)
})
