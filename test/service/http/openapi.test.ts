import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { apiDescription, routes } from '../../../src/service/http/server.ts'

type Operation = {
  operationId: string
  security: object[]
  parameters?: { name: string; in: string; required: boolean; schema: object }[]
  responses: Record<string, unknown>
}

const document = apiDescription as {
  info: { description: string }
  paths: Record<string, Record<string, Operation>>
}
const operations = Object.values(document.paths).flatMap((path) => Object.values(path))

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator()
  const result = await validator.validate(structuredClone(document))
  expect(result).toEqual({ valid: true })
  expect(validator.version).toBe('3.1')
})

test('every call is in it once, under an operation id of its own', () => {
  expect(operations).toHaveLength(routes.length)
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(routes.length)
  expect(document.paths['/v1/channels']?.['post']?.operationId).toBe('createChannel')
})

test('it tells the calls of the interface page from ours', () => {
  const [ofPage, ours] = document.info.description.split('Everything else is an addition')
  const named = ['POST /v1/channels', 'POST /v1/stable-wallets', 'GET /v1/proxies/deposits']
  expect([...(ofPage ?? '').matchAll(/`([A-Z]+ \/.*)`/g)].map(([, call]) => call)).toEqual(named)
  expect([...(ours ?? '').matchAll(/`([A-Z]+ \/.*)`/g)]).toHaveLength(routes.length - named.length)
})

test('it says what a call takes, who may call and what it can answer', () => {
  const list = document.paths['/v1/proxies/deposits']?.['get']
  expect(list?.security).toEqual([{ apiKey: ['read'] }])
  expect(list?.parameters).toContainEqual({
    name: 'limit',
    in: 'query',
    required: false,
    schema: { type: 'integer', minimum: 1, maximum: 500 },
  })
  expect(Object.keys(list?.responses ?? {})).toEqual(expect.arrayContaining(['200', '400', '401', '500']))
  expect(document.paths['/openapi.json']?.['get']?.security).toEqual([])
})
