import { expect, test } from 'vitest'
import { nextLink } from '../../src/provider/deposit-client.ts'

const base = 'https://api.example.com/deposits-api/'

test.each<[string | null, string | null]>([
  [null, null],
  ['', null],
  ['<https://api.example.com/deposits-api/v1/d?c=1>; rel="next"', '/v1/d?c=1'],
  ['</deposits-api/v1/d?c=1>; rel=next', '/v1/d?c=1'],
  ['<?c=1>; rel="prev", <v1/d?c=a,b>; title="n"; rel="last next"', '/v1/d?c=a,b'],
  ['</deposits-api/v1/d?c=1>; rel="prev"', null],
  ['</deposits-api/v1/d?c=1>; rel="nextish"', null],
])('%s leads to %s', (header, path) => {
  expect(nextLink(header, null, base)).toBe(path)
})

test.each([
  '<https://elsewhere.example.com/deposits-api/v1/d>; rel="next"',
  '<http://api.example.com/deposits-api/v1/d>; rel="next"',
  '<//elsewhere.example.com/deposits-api/v1/d>; rel="next"',
  '</admin?c=1>; rel="next"',
  '</deposits-api/../admin>; rel="next"',
])('%s leads away, and is refused', (header) => {
  expect(() => nextLink(header, null, base)).toThrow('leads away')
})

test('without a header, the link in the answer counts, under the same rules', () => {
  expect(nextLink(null, 'https://api.example.com/deposits-api/v1/d?page=2', base)).toBe('/v1/d?page=2')
  expect(nextLink('</deposits-api/v1/d?c=1>; rel=next', '/deposits-api/v1/d?c=2', base)).toBe('/v1/d?c=1')
  expect(() => nextLink(null, 'https://elsewhere.example.com/v1/d', base)).toThrow('leads away')
})
