import { expect, test } from 'vitest'
import { parseSettings } from '../../src/config/settings.ts'
import { isFault } from '../../src/core/errors.ts'
import { environment, faultsOf, parse } from '../support/settings-text.ts'

const file = (accounts: string) => `
networks:
  - name: base
    family: evm
    chainId: 8453
    assets: [{ symbol: USDC, contract: "0x00000000000000000000000000000000000000b1", decimals: 6 }]
accounts:${accounts}
`

test('without the section, deposits are owed to their owners and no account is called otherwise', () => {
  const { contras, accounts } = parse('')
  expect(contras).toEqual([])
  expect(accounts.labels).toEqual([])
})

test('whose money deposits are is said by owner and route, in a word or by an account', () => {
  const { contras, accounts } = parse(
    file(`
  contra:
    - { match: { owner: { kind: stable_wallet } }, account: own_funds }
    - { match: { owner: { id: shop }, network: { in: base } }, account: income }
    - { match: { asset: { in: base/USDC } }, account: "liabilities:customers:{kind}:{id}" }
    - { account: liability }`),
  )
  expect(contras).toEqual([
    { pattern: { ownerKind: 'stable_wallet' }, account: 'equity:own_funds:{kind}:{id}' },
    { pattern: { ownerId: 'shop', networkIn: 'base' }, account: 'income:deposits:{kind}:{id}' },
    {
      pattern: { assetIn: 'base/0x00000000000000000000000000000000000000b1' },
      account: 'liabilities:customers:{kind}:{id}',
    },
    { pattern: {}, account: 'liabilities:deposits:{kind}:{id}' },
  ])
  expect(accounts.known).toContain('liabilities:customers:*:*')
})

test('accounts and all that fit a pattern are given codes and names', () => {
  const { accounts } = parse(
    file(`
  own: [assets:bank:main]
  labels:
    - { account: assets:bank:main, code: "1000", name: Bank }
    - { account: "assets:in_transit:*", code: "0110" }
    - { account: "liabilities:*", name: Owed }`),
  )
  expect(accounts.labels).toEqual([
    { pattern: 'assets:bank:main', code: '1000', name: 'Bank' },
    { pattern: 'assets:in_transit:*', code: '0110', name: null },
    { pattern: 'liabilities:*', code: null, name: 'Owed' },
  ])
})

const own = 'must be an account like assets:bank:main, below assets, liabilities, equity, income or expenses'
const contra =
  'must be liability, income, own_funds or an account below liabilities, income or equity, in which {kind} and {id} stand for the owner'
const idle = 'must fit an account of docs/accounting.md, accounts.own or accounts.contra'

test.each<[string, string, string]>([
  ['no class', '{ own: ["bank:main"] }', `accounts.own.0: ${own}`],
  ['a pattern of its own', '{ own: ["assets:bank:*"] }', `accounts.own.0: ${own}`],
  ['a space', '{ own: ["assets:bank main"] }', `accounts.own.0: ${own}`],
  [
    'what the program books',
    '{ own: ["assets:in_transit:base"] }',
    'accounts.own.0: is an account that depositd books to by itself',
  ],
  ['an unknown word', '{ contra: [{ account: revenue }] }', `accounts.contra.0.account: ${contra}`],
  ['an asset', '{ contra: [{ account: "assets:cash" }] }', `accounts.contra.0.account: ${contra}`],
  [
    'an unknown placeholder',
    '{ contra: [{ account: "income:sales:{network}" }] }',
    `accounts.contra.0.account: ${contra}`,
  ],
  [
    'suspense',
    '{ contra: [{ account: "liabilities:suspense" }] }',
    'accounts.contra.0.account: is an account that depositd books to by itself',
  ],
  [
    'an unknown network',
    '{ contra: [{ match: { network: { in: bse } }, account: income }] }',
    'accounts.contra.0.match.network.in: must be a network of the settings: base',
  ],
  [
    'what is delivered',
    '{ contra: [{ match: { asset: { out: base/USDC } }, account: income }] }',
    'accounts.contra.0.match.asset.out: is known only once the deposit is delivered, which is after it is booked',
  ],
  [
    'a rule behind one that fits more',
    '{ contra: [{ account: income }, { match: { owner: { id: shop } }, account: liability }] }',
    'accounts.contra.1.match: is never reached: accounts.contra[0] fits all of it',
  ],
  [
    'a misspelt account',
    '{ labels: [{ account: "assets:in_transi:*", code: "1" }] }',
    `accounts.labels.0.account: ${idle}`,
  ],
  [
    'a network that is none',
    '{ labels: [{ account: "assets:in_transit:bse", code: "1" }] }',
    `accounts.labels.0.account: ${idle}`,
  ],
  [
    'a label behind one that fits more',
    '{ labels: [{ account: "assets:*", code: "1" }, { account: "assets:in_transit:*", code: "2" }] }',
    'accounts.labels.1.account: is never reached: accounts.labels[0] fits all of it',
  ],
  [
    'a code that YAML would take for a number',
    '{ labels: [{ account: "assets:*", code: 0100 }] }',
    'accounts.labels.0.code: must be text in quotes, like "1100"',
  ],
  [
    'a label that says nothing',
    '{ labels: [{ account: "assets:*" }] }',
    'accounts.labels.0: needs a code or a name',
  ],
  [
    'a guard of accounts that have no usual side',
    '{ guards: ["trading:*"] }',
    'accounts.guards.0: must be accounts below assets, liabilities, equity, income or expenses, like liabilities:*',
  ],
  ['a guard of no account', '{ guards: ["assets:bnk:*"] }', `accounts.guards.0: ${idle}`],
])('%s is refused', (_what, accounts, fault) => {
  expect(faultsOf(file(` ${accounts}`))).toEqual([fault])
})

test('a fault is told with its line', () => {
  try {
    parseSettings(environment, () => file('\n  own:\n    - assets:bank:main\n    - bank'))
    expect.unreachable()
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    expect(error.details.faults[0]).toContain('line 10, accounts.own.1: ')
  }
})
