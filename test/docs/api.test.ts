import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { depositRoutes } from '../../src/api/deposit-routes.ts'
import { eventRoutes } from '../../src/api/event-routes.ts'
import { mismatchRoutes } from '../../src/api/mismatch-routes.ts'
import { problems, type ReadProblemCode } from '../../src/api/problem.ts'
import { readApiDescription, readRoutes } from '../../src/api/routes.ts'
import { callOf } from '../../src/api/server.ts'
import { sealBooks } from '../../src/jobs/books/seal-books.ts'
import { tokenScopes } from '../../src/people/roles.ts'
import { fences, tableRows } from '../support/markdown.ts'
import { openReadBooks, type ReadClient, serveReadApi } from '../support/read-api.ts'
import { curlInstalled, shell } from '../support/shell.ts'
import { readText } from './pages.ts'

const page = readText('docs/api.md')
const rows = tableRows(page)
/** Without those of connections that are cut off. */
const declaredCodes = (problems.schema.shape['code'] as z.ZodEnum).options.filter(
  (code) => !['request_timeout', 'headers_too_large'].includes(String(code)),
) as ReadProblemCode[]

const namesIn = (heading: RegExp) => rows.map(({ name }) => name).filter((name) => heading.test(name))

test('the description is valid OpenAPI 3.1', async () => {
  const validator = new Validator()
  expect(await validator.validate(structuredClone(readApiDescription))).toEqual({ valid: true })
  expect(validator.version).toBe('3.1')
})

test('every call, scope and problem is on the page, and no other', () => {
  expect(namesIn(/^(GET|POST) /)).toEqual(readRoutes.map(callOf))
  expect(namesIn(/^(read|write)_/)).toEqual([...tokenScopes])
  const coded = rows.filter(({ cells: [status = ''] }) => /^\d{3}$/.test(status))
  const stated = coded.map(({ name, cells: [status] }) => [name, Number(status)])
  const declared = declaredCodes.map((code) => [code, problems.statusOf(code)])
  expect(Object.fromEntries(stated)).toEqual(Object.fromEntries(declared))
})

test('every filter of the lists is on the page', () => {
  for (const route of [depositRoutes[0], mismatchRoutes[0], eventRoutes[0]]) {
    const { cells = [] } = rows.find(({ name }) => name === `GET ${route?.path}`) ?? {}
    const names = Object.keys(route?.query.shape ?? {}).filter((name) => !/^(limit|cursor)$/.test(name))
    expect(names.filter((name) => !cells[0]?.includes(`\`${name}\``))).toEqual([])
  }
})

describe.skipIf(!curlInstalled())('with curl', () => {
  const stack = new AsyncDisposableStack()
  let api: ReadClient
  beforeAll(async () => {
    const books = stack.use(await openReadBooks())
    await sealBooks(books.db, null)
    api = await serveReadApi(books, stack)
  })
  afterAll(() => stack.disposeAsync())

  const calls = fences(page + readText('docs/events.md'))
    .flatMap(({ text }) => text.replaceAll(/\\\n\s*/g, '').split('\n'))
    .filter((line) => line.startsWith('curl '))

  test.each(calls)('the pages can be pasted: %s', { timeout: 60_000 }, async (call) => {
    const environment = { API: api.url, TOKEN: await api.token() }
    const { status, out } = await shell(call, { folder: '/', environment })
    expect(status).toBe(0)
    expect(JSON.parse(out)).toHaveProperty(call.includes(' -d ') ? 'actor' : 'as_of')
  })
})
