import { expect, test } from 'vitest'
import { listSchema } from '../../../src/provider/profile/profile-schema.ts'

test.each<[string, object, string]>([
  [
    'pages by times without a parameter',
    { pages: 'since', order: 'oldest-first' },
    'since: is needed if pages are by since',
  ],
  [
    'pages by times, newest first',
    { pages: 'since', since: { parameter: 'from', of: 'created' } },
    'order: must be oldest-first if pages are by since',
  ],
  ['a path with a query', { path: '/v1/deposits?sort=asc' }, 'path: is no path of a call: it begins with /'],
  ['an address', { path: 'https://api.example.com/v1' }, 'path: is no path of a call: it begins with /'],
  ['one record without its id', { one: '/v1/deposits' }, 'one.path: names no {id}'],
  ['a way to page that there is not', { pages: 'scroll' }, 'pages: Invalid option'],
  ['a page of nothing', { limit: 0 }, 'limit: Too small'],
  ['a word that there is not', { sort: 'asc' }, ': Unrecognized key: "sort"'],
])('%s is refused', (_what, list, problem) => {
  const issues = listSchema.safeParse(list).error?.issues ?? []
  expect(issues.map(({ path, message }) => `${path.join('.')}: ${message}`)).toEqual([
    expect.stringContaining(problem),
  ])
})

test('where nothing is said, pages are by cursors, newest first', () => {
  expect(listSchema.parse({})).toMatchObject({
    pages: 'cursor',
    order: 'newest-first',
    limit: 100,
    next: 'next_cursor',
  })
})
