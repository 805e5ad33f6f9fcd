import { expect, test } from 'vitest'
import { type PriceColumns, readColumns, readPriceLine } from '../../../src/jobs/books/import-prices.ts'

const names: PriceColumns = ['asset', 'currency', 'at', 'price', 'source']
const read = (text: string) => readPriceLine({ line: 2, cells: text.split(',') }, names)

test('columns may stand in any order, and are exactly those that are wanted', () => {
  const turned = ['source', 'price', 'at', 'currency', 'asset']
  expect(readColumns(turned)).toEqual(turned)
  expect(readColumns(['asset', 'currency', 'at', 'price'])).toContain('it must have asset, currency')
  expect(readColumns([...names, 'rate'])).toContain(
    'has the columns asset, currency, at, price, source, rate',
  )
  expect(readColumns([...names, 'asset'])).toContain('it must have')
  expect(readColumns(['asset', 'asset', 'at', 'price', 'source'])).toContain('it must have')
  expect(readColumns([])).toContain('has the columns none')
})

test('a line is read by its columns, and its price keeps every digit', () => {
  expect(read('base/USDC,EUR,2026-01-01T10:00:00Z,10.92310000000000000010,ECB')).toEqual({
    line: 2,
    asset: 'base/USDC',
    currency: 'EUR',
    at: new Date('2026-01-01T10:00:00Z'),
    price: '10.92310000000000000010',
    source: 'ECB',
  })
})

test.each([
  ['base/USDC,EUR,2026-01-01,1', 'has 4 cells, but the first line has 5 columns'],
  ['base/USDC,EUR,1 January,1,ECB', 'at is neither a day nor a time'],
  ['base/USDC,EUR,2026-02-30,1,ECB', 'at is neither a day nor a time'],
  ['base/USDC,euro,2026-01-01,1,ECB', 'currency is not three capital letters'],
  ['base/USDC,AEUR,2026-01-01,1,ECB', 'currency is not three capital letters'],
  ['base/USDC,EURA,2026-01-01,1,ECB', 'currency is not three capital letters'],
  [`base/USDC,EUR,2026-01-01,1,${'x'.repeat(101)}`, 'source is not a text'],
  ['base/USDC,EUR,2026-01-01,0,ECB', 'price is not an amount above zero'],
  ['base/USDC,EUR,2026-01-01,0.000,ECB', 'price is not an amount above zero'],
  ['base/USDC,EUR,2026-01-01,-1,ECB', 'price is not an amount above zero'],
  ['base/USDC,EUR,2026-01-01,1e3,ECB', 'price is not an amount above zero'],
  ['base/USDC,EUR,2026-01-01,NaN,ECB', 'price is not an amount above zero'],
  ['base/USDC,EUR,2026-01-01,1,', 'source is not a text'],
])('%s is refused', (text, problem) => {
  expect(read(text)).toContain(problem)
})
