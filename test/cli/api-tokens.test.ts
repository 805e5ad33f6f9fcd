import { afterAll, beforeAll, expect, test } from 'vitest'
import { listAudit } from '../../src/store/sessions.ts'
import { type Books, openBooks } from '../support/books.ts'
import { runCommand } from '../support/command.ts'
import { judgingEnvironment } from '../support/judging-environment.ts'
import { addPeople, signingKeys } from '../support/people.ts'

let books: Books
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  books = stack.use(await openBooks())
  await addPeople(books.owner)
})
afterAll(() => stack.disposeAsync())

const run = (line: string, person: keyof typeof signingKeys | null = 'erin') =>
  runCommand(line, judgingEnvironment(books.url, person === null ? {} : signingKeys[person]))

async function log(action: string): Promise<object[]> {
  const entries = await listAudit(books.owner, { person: null, action, after: null, limit: 10 })
  return entries.map(({ person, detail }) => ({ person, detail }))
}

test('an administrator makes a token, which is shown once, lists it and revokes it', async () => {
  const made = await run('api token create shop-backend --scopes read_deposits,read_books --owners shop')
  expect(made).toMatchObject({ status: 0, out: expect.stringMatching(/^depositd_[\w-]{43}\n$/) })
  const listed = await run('api token list --json')
  expect(JSON.parse(listed.out).items).toMatchObject([
    {
      name: 'shop-backend',
      scopes: ['read_deposits', 'read_books'],
      services: null,
      owners: ['shop'],
      created_by: 'erin',
      revoked_at: null,
    },
  ])
  expect(`${listed.out}${(await run('api token list')).out}`).not.toContain(made.out.trim().slice(9))
  expect((await run('api token create shop-backend --scopes read_books')).err).toContain('exists')
  expect(await run('api token revoke shop-backend')).toMatchObject({ status: 0 })
  expect((await run('api token revoke shop-backend')).err).toContain('not found')
  expect(await log('token_created')).toEqual([
    { person: 'erin', detail: 'shop-backend: read_deposits, read_books; owners shop' },
  ])
  expect(await log('token_revoked')).toEqual([{ person: 'erin', detail: 'shop-backend' }])
})

test('others may not, and what does not exist is refused', async () => {
  const command = 'api token create other --scopes read_books'
  expect((await run(command, 'max')).err).toContain('administrator')
  expect((await run(command, null)).err).toContain('SIGNING_KEY')
  expect((await run('api token revoke other', 'max')).err).toContain('administrator')
  const wrong = {
    '--scopes read_bocks': 'did you mean read_books',
    '--scopes read_books --services acme': '--service is "acme"',
    '--scopes read_books --owners shup': 'did you mean shop',
  }
  for (const [words, problem] of Object.entries(wrong))
    expect((await run(`api token create other ${words}`)).err).toContain(problem)
  expect((await run('api token create Other --scopes read_books')).err).toContain('lower-case')
  expect(await log('token_created')).toHaveLength(1)
})
