import { expect, test } from 'vitest'
import { faultsOf, parse } from '../support/settings-text.ts'

test('limits are kept as text, whole numbers too, and are none by default', () => {
  const { secondPersonAbove } = parse('cases: { secondPersonAbove: { all: 100, base/USDC: "2500.50" } }')
  expect([...secondPersonAbove]).toEqual([
    ['all', '100'],
    ['base/USDC', '2500.50'],
  ])
  expect([...parse('').secondPersonAbove]).toEqual([])
})

test.each([
  ['{ all: 0.5 }', 'cases.secondPersonAbove.all'],
  ['{ all: -1 }', 'cases.secondPersonAbove.all'],
  ['{ all: "1e3" }', 'must be an amount'],
  ['{ USDC: 1 }', 'must be "all" or an asset'],
  ['{ base/USDX: 1 }', 'must be "all" or an asset of the settings'],
])('%s is refused', (limits, fault) => {
  expect(faultsOf(`cases: { secondPersonAbove: ${limits} }`).join('\n')).toContain(fault)
})

test('the address book needs a second person only if the settings say so', () => {
  expect(parse('').addressBook).toEqual({ secondPerson: false })
  expect(parse('addressBook: { secondPerson: true }').addressBook).toEqual({ secondPerson: true })
  expect(faultsOf('addressBook: { secondPerson: sometimes }').join('\n')).toContain(
    'addressBook.secondPerson',
  )
})
