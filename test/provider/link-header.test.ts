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
  expect(nextLink(header, base)).toBe(path)
})

test.each([
  '<https://elsewhere.example.com/deposits-api/v1/d>; rel="next"',
  '<http://api.example.com/deposits-api/v1/d>; rel="next"',
  '<//elsewhere.example.com/deposits-api/v1/d>; rel="next"',
  '</admin?c=1>; rel="next"',
  '</deposits-api/../admin>; rel="next"',
])('%s leads away, and is refused', (header) => {
  expect(() => nextLink(header, base)).toThrow('leads away')
})
