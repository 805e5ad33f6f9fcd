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
  [
    'a path with a query',
    { path: '/v1/deposits?sort=asc' },
    'path: must be the path of a call, which begins with /',
  ],
  ['one record without its id', { one: '/v1/deposits' }, 'one.path: must contain {id}'],
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
